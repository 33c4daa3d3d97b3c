-- What a worker gets of the tasks that one claim holds.
--
-- Internal: granted to nobody.
create or replace function escapement.leased(p_owner text, p_tasks bigint[])
returns table (task_id bigint, attempt int, tenant text, kind text, channel text, slot int,
  action escapement.task_action, uncertain boolean, address text, lease_micros bigint,
  timeout_micros bigint, due_at timestamptz, claimed_at timestamptz, tries_left int,
  idempotency_key text, namespace text, event_id text, subject text, content_type text,
  value bytea)
language sql stable security definer set search_path = escapement, pg_temp
  -- Every table here is looked up by key. Without statistics (a new ledger, a restored one) the
  -- planner would keep plans that walk whole tables, and they outlive the first thousands of rows.
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
  select t.id, t.attempt, t.tenant, t.kind, t.channel, t.slot::int, t.action, t.uncertain,
         case when k.routing = 'PREFERENCE' then (
           select p.address from preference p
           where p.tenant = t.tenant and p.subject = i.subject and p.channel = t.channel) end,
         (extract(epoch from k.lease) * 1000000)::bigint,
         (extract(epoch from c.timeout) * 1000000)::bigint, t.due_at, t.claimed_at, t.tries_left,
         l.id || '-' || t.id, i.namespace, i.event_id, i.subject, i.content_type, i.value
  from task t
    join kind k on k.name = t.kind
    join channel c on c.name = t.channel
    join intent i on i.id = t.intent_id
    cross join ledger l
  where t.id = any(p_tasks) and t.lease_owner = p_owner
  order by t.due_at, t.id;
$$;
revoke all on function escapement.leased from public;

-- Claims tasks that are due, by id, under one lease owner: those that a worker with these kinds and
-- channels can run (see "serves"; null: any). Answers, one row a task that exists: CLAIMED with all
-- that the worker needs, NOT_DUE with when to come back, PAUSED, SETTLED with the state (the claim
-- itself found that it had expired, that its recipient has switched the channel off, or that its key
-- may be forgotten), or NOT_CLAIMABLE (held, finished, parked, quarantined, of another kind or
-- channel).
--
-- The owner names the process incarnation and this claim; it must be new.
create or replace function escapement.claim(p_owner text, p_kinds text[], p_tasks bigint[],
  p_channels text[] default null)
returns table (task_id bigint, answer text, state escapement.task_state, attempt int, tenant text,
  kind text, channel text, slot int, action escapement.task_action, uncertain boolean,
  address text, lease_micros bigint, timeout_micros bigint, due_at timestamptz,
  claimed_at timestamptz, tries_left int, idempotency_key text, namespace text, event_id text,
  subject text, content_type text, value bytea)
language plpgsql security definer set search_path = escapement, pg_temp
  -- Every table here is looked up by key. Without statistics (a new ledger, a restored one) the
  -- planner would keep plans that walk whole tables, and they outlive the first thousands of rows.
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  c_last_attempt constant int := 2000000000; -- numbers of attempts end, after too many redrives
  v_local constant text[] := local_channels();
  v_pauses constant boolean := exists (select from pause);
  v_queues text[];
  v_tenants text[];
  v_kinds text[];
  v_channels text[];
  v_claimed bigint[];
  v_settled bigint[];
  v_seen text[];
begin
  if p_owner is null or octet_length(p_owner) not between 1 and 512 then
    raise exception 'escapement: a lease owner has 1 to 512 bytes' using errcode = 'ES002';
  end if;
  if v_pauses then
    select coalesce(array_agg(name) filter (where scope = 'queue'), '{}'),
           coalesce(array_agg(name) filter (where scope = 'tenant'), '{}'),
           coalesce(array_agg(name) filter (where scope = 'kind'), '{}'),
           coalesce(array_agg(name) filter (where scope = 'channel'), '{}')
      into v_queues, v_tenants, v_kinds, v_channels
    from pause;
  end if;
  -- "<= UNKNOWN" says "waits" without implying the partial index's predicate: this is a look-up by
  -- key, not a walk of what waits.
  with due as (
    select t.id, t.intent_id, t.tenant, t.kind, t.channel, t.uncertain, t.first_sent_at,
           t.expires_at
    from task t
    where t.id = any(p_tasks) and t.state <= 'UNKNOWN' and t.due_at <= now()
      and serves(t.kind, t.channel, p_kinds, p_channels, v_local)
      and (not v_pauses or t.queue <> all(v_queues) and t.tenant <> all(v_tenants)
           and t.kind <> all(v_kinds) and t.channel <> all(v_channels))
      and t.attempt < c_last_attempt
    order by t.id for update skip locked
  ),
  judged as (
    select d.id, k.lease, c.contract, d.uncertain,
           case
             when k.routing = 'PREFERENCE' and not exists (
                 select from intent i
                   join preference p on p.tenant = d.tenant and p.subject = i.subject
                     and p.channel = d.channel
                 where i.id = d.intent_id and p.enabled)
               then 'PREFERENCE_OFF'
             when d.expires_at <= now() then 'TTL_EXPIRED'
             -- the provider might forget the key while the call is under way
             when c.contract = 'IDEMPOTENT' and d.uncertain
                 and d.first_sent_at + c.key_retention <= now() + c.timeout
               then 'KEY_EXPIRED'
           end as seen
    from due d join kind k on k.name = d.kind join channel c on c.name = d.channel
  ),
  moved as (
    update task t
    set state = 'CLAIMED', attempt = t.attempt + 1, tries_left = t.tries_left - 1,
        action = case
          when j.contract = 'TRANSACTIONAL' then 'RUN'::task_action
          when j.contract = 'QUERYABLE' and j.uncertain then 'QUERY'
          else 'SEND' end,
        first_sent_at = case
          when j.contract = 'TRANSACTIONAL' then null
          else coalesce(t.first_sent_at, clock_timestamp()) end,
        claimed_at = clock_timestamp(), lease_owner = p_owner,
        lease_until = clock_timestamp() + j.lease
    from judged j
    where t.id = j.id and j.seen is null
  )
  select coalesce(array_agg(j.id) filter (where j.seen is null), '{}'),
         coalesce(array_agg(j.id order by j.id) filter (where j.seen is not null), '{}'),
         array_agg(j.seen order by j.id) filter (where j.seen is not null)
    into v_claimed, v_settled, v_seen
  from judged j;

  return query
    select l.task_id, 'CLAIMED', 'CLAIMED'::task_state, l.attempt, l.tenant, l.kind, l.channel,
           l.slot, l.action, l.uncertain, l.address, l.lease_micros, l.timeout_micros, l.due_at,
           l.claimed_at, l.tries_left, l.idempotency_key, l.namespace, l.event_id, l.subject,
           l.content_type, l.value
    from leased(p_owner, v_claimed) l;
  if cardinality(v_claimed) = cardinality(p_tasks) then
    return;
  end if;

  if cardinality(v_settled) > 0 then
    return query
      select s.task_id, 'SETTLED', s.state, null::int, s.tenant, null::text, null::text,
             s.slot::int, null::task_action, null::boolean, null::text, null::bigint, null::bigint,
             s.due_at, null::timestamptz, null::int, null::text, null::text, null::text,
             null::text, null::text, null::bytea
      from settle(v_settled, v_seen) s;
  end if;

  return query
    select t.id,
           case when t.state <= 'UNKNOWN' and t.due_at > now() then 'NOT_DUE'
                when t.state <= 'UNKNOWN' and t.due_at is not null and v_pauses
                  and (t.queue = any(v_queues) or t.tenant = any(v_tenants)
                       or t.kind = any(v_kinds) or t.channel = any(v_channels)) then 'PAUSED'
                else 'NOT_CLAIMABLE' end,
           t.state, null::int, t.tenant, null::text, null::text, t.slot::int, null::task_action,
           null::boolean, null::text, null::bigint, null::bigint, t.due_at, null::timestamptz,
           null::int, null::text, null::text, null::text, null::text, null::text, null::bytea
    from task t
    where t.id = any(p_tasks) and t.id <> all(v_claimed) and t.id <> all(v_settled);
end $$;
revoke all on function escapement.claim from public;
grant execute on function escapement.claim to escapement_dispatcher;
