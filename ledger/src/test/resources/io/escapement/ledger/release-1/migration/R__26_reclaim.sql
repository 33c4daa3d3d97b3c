-- Ends what has ended by time in some slots: leases that ran out, waiting tasks that have expired;
-- at most p_limit of each. Answers with the tasks that wait again and when they are due.
create or replace function escapement.reclaim(p_queue text, p_slots int[], p_limit int)
returns table (task_id bigint, tenant text, slot int, due_at timestamptz)
language plpgsql security definer set search_path = escapement, pg_temp as $$
#variable_conflict use_column
declare
  v_lost bigint[];
  v_expired bigint[];
  v_all bigint[];
begin
  v_lost := array(
    select id from (
      select t.id, t.lease_until
      from unnest(p_slots) s(slot) cross join lateral (
        select t.id, t.lease_until from task t
        where t.queue = p_queue and t.slot = s.slot and t.state = 'CLAIMED'
          and t.lease_until <= now()
        order by t.lease_until limit p_limit) t
      order by t.lease_until limit p_limit
    ) l order by id);
  -- Lock in id order and look again: a renewal may have come between.
  v_lost := array(
    select t.id from task t
    where t.id = any(v_lost) and t.lease_until <= now()
    order by t.id for update skip locked);

  v_expired := array(
    select id from (
      select t.id, t.expires_at
      from unnest(p_slots) s(slot) cross join lateral (
        select t.id, t.expires_at from task t
        where t.queue = p_queue and t.slot = s.slot and t.state in ('SCHEDULED', 'UNKNOWN')
          and t.expires_at <= now()
        order by t.expires_at limit p_limit) t
      order by t.expires_at limit p_limit
    ) l order by id);
  v_expired := array(
    select t.id from task t
    where t.id = any(v_expired) and t.state <= 'UNKNOWN' and t.expires_at <= now()
    order by t.id for update skip locked);

  v_all := v_lost || v_expired;
  if cardinality(v_all) > 0 then
    return query
      select s.task_id, s.tenant, s.slot::int, s.due_at
      from settle(v_all,
        array(select case when n <= cardinality(v_lost) then 'LEASE_EXPIRED' else 'TTL_EXPIRED' end
              from generate_subscripts(v_all, 1) n order by n),
        array_fill(null::text, array[cardinality(v_all)]),
        array_fill(null::bytea, array[cardinality(v_all)]),
        array_fill(null::text, array[cardinality(v_all)]),
        array_fill(null::text, array[cardinality(v_all)])) s
      where s.due_at is not null;
  end if;
end $$;
revoke all on function escapement.reclaim from public;
grant execute on function escapement.reclaim to escapement_dispatcher;
