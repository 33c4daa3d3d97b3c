-- Ends what has ended by time in some slots: leases that ran out, waiting tasks that have expired
-- (paused ones and those due much later too); at most p_limit of each. Answers with the tasks that
-- wait again and when they are due.
create or replace function escapement.reclaim(p_queue text, p_slots int[], p_limit int)
returns table (task_id bigint, tenant text, slot int, due_at timestamptz)
language plpgsql security definer set search_path = escapement, pg_temp as $$
#variable_conflict use_column
declare
  v_lost bigint[];
  v_expired bigint[];
  v_seen text[];
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
          and t.due_at is not null and t.expires_at <= now()
        order by t.expires_at limit p_limit) t
      order by t.expires_at limit p_limit
    ) l order by id);
  v_expired := array(
    select t.id from task t
    where t.id = any(v_expired) and t.state <= 'UNKNOWN' and t.due_at is not null
      and t.expires_at <= now()
    order by t.id for update skip locked);
  -- A preference that is switched off comes before an expiry.
  v_seen := array(
    select case when k.routing = 'PREFERENCE' and not exists (
               select from intent i
                 join preference p on p.tenant = t.tenant and p.subject = i.subject
                   and p.channel = t.channel
               where i.id = t.intent_id and p.enabled)
             then 'PREFERENCE_OFF' else 'TTL_EXPIRED' end
    from unnest(v_expired) with ordinality e(id, ord)
      join task t using (id) join kind k on k.name = t.kind
    order by e.ord);

  if cardinality(v_lost) + cardinality(v_expired) > 0 then
    return query
      select s.task_id, s.tenant, s.slot::int, s.due_at
      from settle(v_lost || v_expired,
        array_fill('LEASE_EXPIRED'::text, array[cardinality(v_lost)]) || v_seen) s
      where s.due_at is not null;
  end if;
end $$;
revoke all on function escapement.reclaim from public;
grant execute on function escapement.reclaim to escapement_dispatcher;
