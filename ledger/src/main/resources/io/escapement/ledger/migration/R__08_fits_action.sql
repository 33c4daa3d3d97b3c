-- Whether a worker can have seen this of an attempt that was claimed for that.
--
-- Internal: granted to nobody.
create or replace function escapement.fits_action(action escapement.task_action, seen text)
returns boolean
language sql immutable parallel safe
return seen is not null and case action
  when 'RUN' then seen in ('COMPLETED', 'FAILED', 'POISONED', 'RELEASED')
  when 'SEND' then seen in ('ACCEPTED', 'ACCEPTED_REPLAY', 'REFUSED', 'REJECTED', 'TIMEOUT',
    'IO_ERROR', 'UNCLEAR', 'RELEASED')
  when 'QUERY' then seen in ('QUERY_FOUND', 'QUERY_NOT_FOUND', 'QUERY_FAILED', 'RELEASED')
  else false
end;
revoke all on function escapement.fits_action from public;
