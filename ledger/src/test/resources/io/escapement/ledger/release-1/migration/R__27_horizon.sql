-- What of some kinds of work is due, or whose lease ends, in some slots up to a moment: at most
-- p_per_slot due and as many leases a slot, earliest first. The first row has no task; its wake_at is the database's clock.
create or replace function escapement.horizon(p_queue text, p_slots int[], p_kinds text[],
  p_until timestamptz, p_per_slot int)
returns table (task_id bigint, tenant text, slot int, wake_at timestamptz, claimed boolean)
language plpgsql stable security definer set search_path = escapement, pg_temp as $$
#variable_conflict use_column
begin
  return query select null::bigint, null::text, null::int, clock_timestamp(), null::boolean;
  return query
    select t.id, t.tenant, s.slot, t.due_at, false
    from unnest(p_slots) s(slot) cross join lateral (
      select t.id, t.tenant, t.due_at from task t
      where t.queue = p_queue and t.slot = s.slot and t.state in ('SCHEDULED', 'UNKNOWN')
        and t.due_at <= p_until and t.kind = any(p_kinds)
      order by t.due_at limit p_per_slot) t;
  return query
    select t.id, t.tenant, s.slot, t.lease_until, true
    from unnest(p_slots) s(slot) cross join lateral (
      select t.id, t.tenant, t.lease_until from task t
      where t.queue = p_queue and t.slot = s.slot and t.state = 'CLAIMED'
        and t.lease_until <= p_until
      order by t.lease_until limit p_per_slot) t;
end $$;
revoke all on function escapement.horizon from public;
grant execute on function escapement.horizon to escapement_dispatcher;
