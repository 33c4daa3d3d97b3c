-- What a worker with some kinds and channels can run (see "serves") and is due, or whose lease ends, in
-- some slots up to a moment, earliest first: at most p_per_slot due and as many leases a slot; kinds
-- in p_without are left out. An entry that is marked truncated is the last of its slot (or lane) that
-- fitted: what follows it is not told. The first row has no task; its wake_at is the database's clock.
--
-- If something is paused or there are kinds or channels that are not asked for, due tasks are read lane by
-- lane, the same number in all, so that what must not be claimed is not read; also if it is asked for
-- (p_by_lane), so that one tenant's backlog does not hide what others have.
drop function if exists escapement.horizon(text, int[], text[], timestamptz, int, text[]);
drop function if exists escapement.horizon(text, int[], text[], timestamptz, int, text[], boolean);
create or replace function escapement.horizon(p_queue text, p_slots int[], p_kinds text[],
  p_until timestamptz, p_per_slot int, p_channels text[] default null,
  p_by_lane boolean default false, p_without text[] default '{}')
returns table (task_id bigint, tenant text, slot int, wake_at timestamptz, claimed boolean,
  truncated boolean)
language plpgsql stable security definer set search_path = escapement, pg_temp
  set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  c_least_per_lane constant int := 16;
  v_local constant text[] := local_channels();
  v_per_lane int;
begin
  return query
    select null::bigint, null::text, null::int, clock_timestamp(), null::boolean, null::boolean;
  if p_by_lane or is_choosy(p_queue, p_kinds, p_channels, p_without) then
    v_per_lane := greatest(c_least_per_lane, p_per_slot::bigint * cardinality(p_slots)
      / greatest(1, (select count(*) from open_lanes(p_queue, p_kinds, p_channels, p_without))));
    return query
      select t.id, l.tenant, t.slot::int, t.due_at, false, t.nth = v_per_lane
      from open_lanes(p_queue, p_kinds, p_channels, p_without) l cross join lateral (
        select t.id, t.slot, t.due_at, row_number() over (order by t.due_at) as nth from task t
        where t.queue = p_queue and t.tenant = l.tenant and t.kind = l.kind
          and t.channel = l.channel and t.due_at <= p_until and t.slot = any(p_slots)
          and t.state in ('SCHEDULED', 'UNKNOWN') and t.due_at is not null
        order by t.due_at limit v_per_lane) t;
  else
    return query
      select t.id, t.tenant, s.slot, t.due_at, false, t.nth = p_per_slot
      from unnest(p_slots) s(slot) cross join lateral (
        select t.id, t.tenant, t.due_at, row_number() over (order by t.due_at) as nth from task t
        where t.queue = p_queue and t.slot = s.slot and t.state in ('SCHEDULED', 'UNKNOWN')
          and t.due_at <= p_until and serves(t.kind, t.channel, p_kinds, p_channels, v_local)
        order by t.due_at limit p_per_slot) t;
  end if;
  return query
    select t.id, t.tenant, s.slot, t.lease_until, true, t.nth = p_per_slot
    from unnest(p_slots) s(slot) cross join lateral (
      select t.id, t.tenant, t.lease_until, row_number() over (order by t.lease_until) as nth
      from task t
      where t.queue = p_queue and t.slot = s.slot and t.state = 'CLAIMED'
        and t.lease_until <= p_until
      order by t.lease_until limit p_per_slot) t;
end $$;
revoke all on function escapement.horizon from public;
grant execute on function escapement.horizon to escapement_dispatcher;
