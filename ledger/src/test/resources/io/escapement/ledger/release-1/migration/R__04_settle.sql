-- Settles tasks by what was seen of them: applies the rule, writes the attempt, the effect, the
-- release slip and the outbox row. The one place where a task changes state by observation.
--
-- The caller has locked the rows and checked its fence. A task that waits (nobody holds it) is
-- settled as an attempt of its own, action NONE.
--
-- Internal: granted to nobody.
create or replace function escapement.settle(p_tasks bigint[], p_seen text[], p_details text[],
  p_effects bytea[], p_late text[], p_late_details text[])
returns table (task_id bigint, state escapement.task_state, due_at timestamptz, tenant text,
  slot smallint)
language plpgsql security definer set search_path = escapement, pg_temp
  -- Every table here is looked up by key. Without statistics (a new ledger, a restored one) the
  -- planner would keep plans that walk whole tables, and they outlive the first thousands of rows.
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_settled int;
begin
  return query
  with seen as (
    select u.* from unnest(p_tasks, p_seen, p_details, p_effects, p_late, p_late_details)
      with ordinality u(task, seen, detail, effect, late, late_detail, ord)
  ),
  ruled as (
    select t.id, t.intent_id, t.tenant, t.kind, t.channel, t.queue, t.slot, t.bytes, t.due_at,
           t.state = 'CLAIMED' as was_claimed, t.lease_owner, t.claimed_at, t.action,
           case when t.state = 'CLAIMED' then t.attempt else t.attempt + 1 end as number,
           s.seen, s.detail, s.effect, s.late, s.late_detail, s.ord,
           r.next_state, r.next_uncertain, r.returns_try, r.writes_effect,
           case r.next_due
             when 'NOW' then clock_timestamp()
             -- in seconds: an interval would overflow before the cap is applied
             when 'BACKOFF' then clock_timestamp() + interval '1 second'
               * least(extract(epoch from k.backoff_base)::double precision
                         * power(2, least(t.attempt - 1, 60)),
                       extract(epoch from k.backoff_cap)::double precision)
               * (1 + random() * k.backoff_jitter)
           end as next_due_at
    from seen s
      join task t on t.id = s.task
      join kind k on k.name = t.kind
      join channel c on c.name = t.channel
      join rule r on r.key = rule_key(c.contract, s.seen, t.uncertain, t.tries_left > 0,
                                      t.cancel_requested, k.exhaustion)
  ),
  moved as (
    update task t
    set state = r.next_state,
        due_at = r.next_due_at,
        attempt = r.number,
        tries_left = t.tries_left + r.returns_try::int,
        uncertain = r.next_uncertain,
        action = null, claimed_at = null, lease_owner = null, lease_until = null
    from ruled r
    where t.id = r.id
  ),
  attempts as (
    insert into attempt (task_id, number, worker, action, due_at, claimed_at, finished_at, outcome,
      detail, late_outcome, late_detail, late_at)
    select r.id, r.number, r.lease_owner, coalesce(r.action, 'NONE'), r.due_at, r.claimed_at,
           clock_timestamp(), r.seen, r.detail, r.late, r.late_detail,
           case when r.late is not null then clock_timestamp() end
    from ruled r
  ),
  effects as (
    insert into effect (task_id, attempt, bytes)
    select r.id, r.number, r.effect from ruled r where r.writes_effect
  ),
  slips as (
    insert into release_slip (tenant, tasks, bytes)
    select r.tenant, count(*), sum(r.bytes) from ruled r
    where r.next_state >= 'DONE' group by r.tenant
  ),
  told as (
    insert into outbox (events)
    select string_agg(
      case
        when r.next_state = 'SCHEDULED' then
          concat_ws(chr(9), 'D', field(r.queue), r.id, field(r.tenant), r.slot,
            (extract(epoch from r.next_due_at) * 1000000)::bigint)
        else
          concat_ws(chr(9), 'O', lower(r.next_state::text), r.id, field(i.namespace),
            field(i.event_id), field(r.tenant), field(r.kind), field(r.channel), r.number, r.seen,
            field(r.detail))
      end, chr(10) order by r.ord)
    from ruled r join intent i on i.id = r.intent_id
    having count(*) > 0
  )
  select r.id, r.next_state, r.next_due_at, r.tenant, r.slot
  from ruled r
  order by r.ord;

  get diagnostics v_settled = row_count;
  if v_settled <> cardinality(p_tasks) then
    raise exception 'escapement: no rule for some of the observations % of the tasks %',
      p_seen, p_tasks using errcode = 'ES001';
  end if;
end $$;
revoke all on function escapement.settle from public;
