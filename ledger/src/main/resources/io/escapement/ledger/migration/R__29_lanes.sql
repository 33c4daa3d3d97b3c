-- Of which kind some tasks are and on which channel they run: for who limits how many of a kind or
-- channel run at once. Tasks that do not exist are left out.
create or replace function escapement.lanes_of(p_tasks bigint[])
returns table (task_id bigint, kind text, channel text)
language sql stable security definer set search_path = escapement, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
  select t.id, t.kind, t.channel from unnest(p_tasks) u(id) join task t on t.id = u.id;
$$;
revoke all on function escapement.lanes_of from public;
grant execute on function escapement.lanes_of to escapement_dispatcher;

-- The kinds and channels of a queue in which something is due that a worker with these kinds and
-- channels can't run, with the moment since which the oldest is due. What is paused is left out.
create or replace function escapement.unserved(p_queue text, p_kinds text[], p_channels text[])
returns table (kind text, channel text, due_since timestamptz)
language sql stable security definer set search_path = escapement, pg_temp
  set enable_seqscan = off set enable_bitmapscan = off
as $$
  select l.kind, l.channel, min(t.due_at)
  from open_lanes(p_queue, null, null) l cross join lateral (
    select t.due_at from task t
    where t.queue = p_queue and t.tenant = l.tenant and t.kind = l.kind and t.channel = l.channel
      and t.state in ('SCHEDULED', 'UNKNOWN') and t.due_at <= clock_timestamp()
    order by t.due_at limit 1) t
  where not serves(l.kind, l.channel, p_kinds, p_channels, local_channels())
  group by l.kind, l.channel
  order by min(t.due_at);
$$;
revoke all on function escapement.unserved from public;
grant execute on function escapement.unserved to escapement_dispatcher;
