-- Defines a kind of work, or changes it. Tasks accepted before keep their queue and channel.
--
-- FIXED: all its tasks go to its one channel. PREFERENCE: one task for each of its channels that
-- the recipient (the request's subject) has switched on. Which of the two can't change: it decides
-- what the identity of a request is.
create or replace function escapement.define_kind(p_name text, p_queue text default 'default',
  p_channels text[] default '{local}', p_routing text default 'FIXED',
  p_max_attempts int default 5, p_lease interval default '30 seconds',
  p_timeout interval default '10 minutes', p_backoff_base interval default '1 second',
  p_backoff_cap interval default '5 minutes', p_backoff_jitter double precision default 0.2,
  p_exhaustion text default 'FAILED', p_reason text default null)
returns void
language plpgsql security definer set search_path = escapement, pg_temp as $$
declare
  v_wrong text;
  v_check text;
begin
  if p_name ~ '[\u0001-\u001f\u007f-\u009f]' then
    raise exception 'kind: its name has control characters' using errcode = '22023';
  end if;
  -- A definition of a channel that is being changed is waited for, so that the checks below hold.
  perform from channel where name = any(p_channels) order by name for share;
  select 'kind ' || p_name || ': '
      || case when c.name is null then 'there is no channel ' || n.name
              else 'the timeout of channel ' || n.name || ' is ' || c.timeout
                || ' and must be shorter than the lease, ' || p_lease end
    into v_wrong
  from unnest(p_channels) n(name) left join channel c on c.name = n.name
  where c.name is null or c.timeout >= p_lease
  limit 1;
  if v_wrong is not null then
    raise exception '%', v_wrong using errcode = '22023';
  end if;
  if cardinality(p_channels) <> (select count(distinct n) from unnest(p_channels) n) then
    raise exception 'kind %: names a channel twice', p_name using errcode = '22023';
  end if;
  insert into kind as k (name, queue, channels, routing, max_attempts, lease, timeout,
    backoff_base, backoff_cap, backoff_jitter, exhaustion)
  values (p_name, p_queue, p_channels, p_routing, p_max_attempts, p_lease, p_timeout,
    p_backoff_base, p_backoff_cap, p_backoff_jitter, p_exhaustion)
  on conflict (name) do update
  set queue = excluded.queue, channels = excluded.channels, max_attempts = excluded.max_attempts,
      lease = excluded.lease, timeout = excluded.timeout, backoff_base = excluded.backoff_base,
      backoff_cap = excluded.backoff_cap, backoff_jitter = excluded.backoff_jitter,
      exhaustion = excluded.exhaustion
  where k.routing = excluded.routing;
  if not found then
    raise exception 'kind %: its routing can''t change', p_name using errcode = '22023';
  end if;
  perform record_action('define_kind', p_name, p_reason, 'DEFINED');
exception when check_violation then
  get stacked diagnostics v_check = constraint_name;
  raise exception 'kind %: not as it must be: %', p_name, (
    select pg_get_constraintdef(oid) from pg_constraint
    where conrelid = 'kind'::regclass and conname = v_check) using errcode = '22023';
end $$;
revoke all on function escapement.define_kind from public;
grant execute on function escapement.define_kind to escapement_operator;
