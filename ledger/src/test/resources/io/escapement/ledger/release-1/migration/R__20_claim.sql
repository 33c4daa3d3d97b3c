-- What a worker gets of the tasks that one claim holds.
--
-- Internal: granted to nobody.
create or replace function escapement.leased(p_owner text, p_tasks bigint[])
returns table (task_id bigint, attempt int, tenant text, kind text, channel text, slot int,
  lease_micros bigint, due_at timestamptz, claimed_at timestamptz, tries_left int,
  idempotency_key text, namespace text, event_id text, subject text, content_type text,
  value bytea)
language sql stable security definer set search_path = escapement, pg_temp
  -- Every table here is looked up by key. Without statistics (a new ledger, a restored one) the
  -- planner would keep plans that walk whole tables, and they outlive the first thousands of rows.
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
  select t.id, t.attempt, t.tenant, t.kind, t.channel, t.slot::int,
         (extract(epoch from k.lease) * 1000000)::bigint, t.due_at, t.claimed_at, t.tries_left,
         l.id || '-' || t.id, i.namespace, i.event_id, i.subject, i.content_type, i.value
  from task t
    join kind k on k.name = t.kind
    join intent i on i.id = t.intent_id
    cross join ledger l
  where t.id = any(p_tasks) and t.lease_owner = p_owner
  order by t.due_at, t.id;
$$;
revoke all on function escapement.leased from public;

-- Claims tasks of some kinds that are due, by id, under one lease owner. Answers, one row a task that exists:
-- CLAIMED with all that the worker needs, NOT_DUE with when to come back, SETTLED with the state
-- (it had expired), or NOT_CLAIMABLE.
--
-- The owner names the process incarnation and this claim; it must be new.
create or replace function escapement.claim(p_owner text, p_kinds text[], p_tasks bigint[])
returns table (task_id bigint, answer text, state escapement.task_state, attempt int, tenant text,
  kind text, channel text, slot int, lease_micros bigint, due_at timestamptz,
  claimed_at timestamptz, tries_left int, idempotency_key text, namespace text, event_id text,
  subject text, content_type text, value bytea)
language plpgsql security definer set search_path = escapement, pg_temp
  -- Every table here is looked up by key. Without statistics (a new ledger, a restored one) the
  -- planner would keep plans that walk whole tables, and they outlive the first thousands of rows.
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_claimed bigint[];
  v_expired bigint[];
begin
  -- "<= UNKNOWN" says "waits" without implying the partial index's predicate: this is a look-up by
  -- key, not a walk of what waits.
  with due as (
    select t.id, t.kind from task t
    where t.id = any(p_tasks) and t.state <= 'UNKNOWN' and t.due_at <= now()
      and (t.expires_at is null or t.expires_at > now()) and t.kind = any(p_kinds)
    order by t.id for update skip locked
  ),
  moved as (
    update task t
    set state = 'CLAIMED', attempt = t.attempt + 1, tries_left = t.tries_left - 1,
        action = 'RUN', claimed_at = clock_timestamp(), lease_owner = p_owner,
        lease_until = clock_timestamp() + k.lease
    from due d join kind k on k.name = d.kind
    where t.id = d.id
    returning t.id
  )
  select coalesce(array_agg(id), '{}') into v_claimed from moved;
  return query
    select l.task_id, 'CLAIMED', 'CLAIMED'::task_state, l.attempt, l.tenant, l.kind, l.channel,
           l.slot, l.lease_micros, l.due_at, l.claimed_at, l.tries_left, l.idempotency_key,
           l.namespace, l.event_id, l.subject, l.content_type, l.value
    from leased(p_owner, v_claimed) l;
  if cardinality(v_claimed) = cardinality(p_tasks) then
    return;
  end if;

  v_expired := array(
    select t.id from task t
    where t.id = any(p_tasks) and t.state <= 'UNKNOWN' and t.due_at <= now()
      and t.expires_at <= now()
    order by t.id for update skip locked);
  if cardinality(v_expired) > 0 then
    return query
      select s.task_id, 'SETTLED', s.state, null::int, s.tenant, null::text, null::text,
             s.slot::int, null::bigint, s.due_at, null::timestamptz, null::int, null::text,
             null::text, null::text, null::text, null::text, null::bytea
      from settle(v_expired, array_fill('TTL_EXPIRED'::text, array[cardinality(v_expired)]),
        array_fill(null::text, array[cardinality(v_expired)]),
        array_fill(null::bytea, array[cardinality(v_expired)]),
        array_fill(null::text, array[cardinality(v_expired)]),
        array_fill(null::text, array[cardinality(v_expired)])) s;
  end if;

  return query
    select t.id, case when t.state <= 'UNKNOWN' and t.due_at > now() then 'NOT_DUE'
                      else 'NOT_CLAIMABLE' end,
           t.state, null::int, t.tenant, null::text, null::text, t.slot::int, null::bigint,
           t.due_at, null::timestamptz, null::int, null::text, null::text, null::text, null::text,
           null::text, null::bytea
    from task t
    where t.id = any(p_tasks) and t.id <> all(v_claimed) and t.id <> all(v_expired);
end $$;
revoke all on function escapement.claim from public;
grant execute on function escapement.claim to escapement_dispatcher;
