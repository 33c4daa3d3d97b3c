-- The integer that a rule is found by. The commonest first.
create or replace function escapement.rule_key(contract text, observation text, uncertain boolean,
  tries_left boolean, cancel_requested boolean, exhaustion text) returns int
language sql immutable parallel safe
return
  (case contract
    when 'TRANSACTIONAL' then 0
    when 'IDEMPOTENT' then 1
    when 'QUERYABLE' then 2
    when 'OPAQUE' then 3
  end * 64
  + case observation
    when 'COMPLETED' then 0
    when 'ACCEPTED' then 1
    when 'FAILED' then 2
    when 'POISONED' then 3
    when 'LEASE_EXPIRED' then 4
    when 'RELEASED' then 5
    when 'TTL_EXPIRED' then 6
    when 'ACCEPTED_REPLAY' then 7
    when 'REFUSED' then 8
    when 'REJECTED' then 9
    when 'TIMEOUT' then 10
    when 'IO_ERROR' then 11
    when 'UNCLEAR' then 12
    when 'QUERY_FOUND' then 13
    when 'QUERY_NOT_FOUND' then 14
    when 'QUERY_FAILED' then 15
    when 'PREFERENCE_OFF' then 16
    when 'KEY_EXPIRED' then 17
    when 'MANUAL_DONE' then 18
    when 'MANUAL_FAILED' then 19
    when 'MANUAL_RETRY' then 20
  end) * 16
  + uncertain::int * 8 + tries_left::int * 4 + cancel_requested::int * 2
  + (exhaustion = 'QUARANTINED')::int;
revoke all on function escapement.rule_key from public;
