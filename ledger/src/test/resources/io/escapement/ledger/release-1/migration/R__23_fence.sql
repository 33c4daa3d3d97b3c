-- Opens a completing transaction: locks the task's row for it and gives the lease a full length
-- again. HELD, or CANCEL_REQUESTED (still held; nothing will be committed), or LOST.
create or replace function escapement.fence(p_task bigint, p_attempt int) returns text
language plpgsql security definer set search_path = escapement, pg_temp as $$
declare
  v_task task%rowtype;
begin
  select * into v_task from task
    where id = p_task and attempt = p_attempt and lease_until is not null for update;
  if not found or v_task.lease_until <= clock_timestamp() then
    return 'LOST';
  end if;
  update task t
  set lease_until = greatest(t.lease_until,
        least(clock_timestamp() + k.lease, t.claimed_at + k.timeout))
  from kind k
  where t.id = p_task and t.attempt = p_attempt and k.name = t.kind;
  return case when v_task.cancel_requested then 'CANCEL_REQUESTED' else 'HELD' end;
end $$;
revoke all on function escapement.fence from public;
grant execute on function escapement.fence to escapement_dispatcher;
