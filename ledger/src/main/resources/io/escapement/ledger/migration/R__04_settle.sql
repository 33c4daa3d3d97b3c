-- Settles tasks by what was seen of them: applies the rule, writes the attempt, the effect, the
-- release slip and the outbox row. The one place where a task changes state by observation.
--
-- The caller has locked the rows and checked its fence. A task that nobody holds is settled as an
-- attempt of its own, action NONE. Arrays beyond the second may be null.
--
-- Internal: granted to nobody.
create or replace function escapement.settle(p_tasks bigint[], p_seen text[],
  p_details text[] default null, p_effects bytea[] default null,
  p_message_ids text[] default null, p_retry_after_micros bigint[] default null,
  p_late text[] default null, p_late_details text[] default null)
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
    select u.* from unnest(p_tasks, p_seen, p_details, p_effects, p_message_ids,
        p_retry_after_micros, p_late, p_late_details)
      with ordinality u(task, seen, detail, effect, message_id, retry_after, late, late_detail, ord)
  ),
  ruled as (
    select t.id, t.intent_id, t.tenant, t.kind, t.channel, t.queue, t.slot, t.bytes, t.due_at,
           t.cancel_requested, t.lease_owner, t.claimed_at, t.action,
           case when t.state = 'CLAIMED' then t.attempt else t.attempt + 1 end as number,
           s.seen, cut(s.detail, 8192) as detail, s.effect, cut(s.message_id, 1024) as message_id,
           s.late, cut(s.late_detail, 8192) as late_detail, s.ord,
           r.next_state, r.next_uncertain, r.returns_try, r.writes_effect,
           case when r.fresh_tries then coalesce(t.max_attempts, k.max_attempts) end as fresh_tries,
           case
             -- what is handed back may be told when it is worth another look
             when r.next_due = 'NOW' then clock_timestamp() + interval '1 microsecond'
               * least(greatest(coalesce(s.retry_after, 0), 0), 604800000000)
             when r.next_due <> 'NEVER' then greatest(
               -- In seconds: an interval would overflow before the cap is applied. By the tries that
               -- are spent: an attempt that was handed back is none.
               clock_timestamp() + interval '1 second'
                 * least(extract(epoch from k.backoff_base)::double precision
                           * power(2, least(greatest(
                               coalesce(t.max_attempts, k.max_attempts) - t.tries_left - 1, 0), 60)),
                         extract(epoch from k.backoff_cap)::double precision)
                 * (1 + random() * k.backoff_jitter),
               clock_timestamp() + interval '1 microsecond'
                 * least(greatest(s.retry_after, 0), 604800000000),
               -- What a call may have left is not looked for before it can be found. A call whose
               -- worker was lost is over at the latest its timeout after the lease.
               case when r.next_due = 'SETTLE' and t.action = 'SEND' then
                 case when s.seen = 'LEASE_EXPIRED' then t.lease_until + c.timeout
                      else clock_timestamp() end + c.settle
               end)
           end as next_due_at
    from seen s
      join task t on t.id = s.task and t.state < 'DONE'
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
        tries_left = coalesce(r.fresh_tries, t.tries_left + r.returns_try::int),
        uncertain = r.next_uncertain,
        first_sent_at = case when r.next_uncertain then t.first_sent_at end,
        action = null, claimed_at = null, lease_owner = null, lease_until = null
    from ruled r
    where t.id = r.id
  ),
  attempts as (
    insert into attempt (task_id, number, worker, action, due_at, claimed_at, finished_at, outcome,
      detail, message_id, late_outcome, late_detail, late_at)
    select r.id, r.number, r.lease_owner, coalesce(r.action, 'NONE'), r.due_at, r.claimed_at,
           clock_timestamp(), r.seen, r.detail, r.message_id, r.late, r.late_detail,
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
        when r.next_due_at is not null then
          concat_ws(chr(9), 'D', field(r.queue), r.id, field(r.tenant), r.slot,
            (extract(epoch from r.next_due_at) * 1000000)::bigint)
        else
          outcome_line(case when r.next_state = 'UNKNOWN' then 'parked'
                            else lower(r.next_state::text) end,
            r.id, i.namespace, i.event_id, r.tenant, r.kind, r.channel, r.number, r.seen, r.detail,
            r.cancel_requested and r.next_state = 'DONE')
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
