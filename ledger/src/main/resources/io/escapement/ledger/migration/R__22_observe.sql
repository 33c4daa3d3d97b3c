-- Settles attempts by what their workers saw. Answers with one row an observation, in order:
-- APPLIED with the task's new state, LATE (the lease was over, or somebody has taken over),
-- REPEATED (this attempt was settled before; outcome says how), NO_SUCH_ATTEMPT.
--
-- The fence: id and attempt, and for what was to be done in this database an unexpired lease by the
-- clock of this moment. What was seen of a call to the outside, and being handed back unstarted,
-- need the attempt only: knowledge is not thrown away because it is a little late.
--
-- p_message_ids: the provider's, of accepted calls. p_retry_after_micros: how long a provider that
-- refused asked to wait; longer than the backoff, it counts. With RELEASED: when it is worth another
-- look.
create or replace function escapement.observe(p_tasks bigint[], p_attempts int[], p_seen text[],
  p_details text[] default null, p_effects bytea[] default null,
  p_message_ids text[] default null,
  p_retry_after_micros bigint[] default null)
returns table (answer text, state escapement.task_state, due_at timestamptz, outcome text)
language plpgsql security definer set search_path = escapement, pg_temp
  -- Every table here is looked up by key. Without statistics (a new ledger, a restored one) the
  -- planner would keep plans that walk whole tables, and they outlive the first thousands of rows.
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_ord bigint[];
  v_live boolean[];
  v_task bigint[];
  v_unfit text[];
  v_state task_state[];
  v_due timestamptz[];
begin
  -- The outer clock_timestamp() is read after the row is locked. "lease_until is not null" means
  -- claimed without implying the predicate of the index on claimed rows, which must not be walked.
  select array_agg(l.ord order by l.ord), array_agg(l.task order by l.ord),
         array_agg(l.action <> 'RUN' or l.seen = 'RELEASED' or l.lease_until > clock_timestamp()
           order by l.ord),
         array_agg(l.seen order by l.ord) filter (where not fits_action(l.action, l.seen))
    into v_ord, v_task, v_live, v_unfit
  from (
    select u.ord, u.task, u.seen, t.action, t.lease_until
    from unnest(p_tasks, p_attempts, p_seen) with ordinality u(task, attempt, seen, ord)
      join task t on t.id = u.task and t.attempt = u.attempt
    where t.lease_until is not null
    order by t.id for update of t
  ) l;
  if v_unfit is not null then
    raise exception 'escapement: % is not what a worker can see of these attempts', v_unfit
      using errcode = 'ES002';
  end if;

  if v_ord is not null then
    select array_agg(s.state order by s.n), array_agg(s.due_at order by s.n) into v_state, v_due
    from settle(v_task,
      array(select case when v_live[n] then p_seen[v_ord[n]] else 'LEASE_EXPIRED' end
            from generate_subscripts(v_ord, 1) n order by n),
      array(select case when v_live[n] then p_details[v_ord[n]] end
            from generate_subscripts(v_ord, 1) n order by n),
      array(select case when v_live[n] then p_effects[v_ord[n]] end
            from generate_subscripts(v_ord, 1) n order by n),
      array(select case when v_live[n] then p_message_ids[v_ord[n]] end
            from generate_subscripts(v_ord, 1) n order by n),
      array(select case when v_live[n] then p_retry_after_micros[v_ord[n]] end
            from generate_subscripts(v_ord, 1) n order by n),
      array(select case when not v_live[n] then p_seen[v_ord[n]] end
            from generate_subscripts(v_ord, 1) n order by n),
      array(select case when not v_live[n] then p_details[v_ord[n]] end
            from generate_subscripts(v_ord, 1) n order by n))
      with ordinality s(task_id, state, due_at, tenant, slot, n);
  end if;

  if coalesce(cardinality(v_ord), 0) < cardinality(p_tasks) then
    -- What an overtaken worker reports stands beside the row of its attempt, first report wins. If
    -- it knows that its call was accepted, and the task is not done, people are told.
    with late as (
      update attempt a
      set late_outcome = u.seen, late_detail = cut(u.detail, 8192),
          message_id = coalesce(a.message_id, cut(u.message_id, 1024)), late_at = clock_timestamp()
      from unnest(p_tasks, p_attempts, p_seen, p_details, p_message_ids) with ordinality
        u(task, attempt, seen, detail, message_id, ord)
      where a.task_id = u.task and a.number = u.attempt and a.outcome = 'LEASE_EXPIRED'
        and a.late_outcome is null and (v_ord is null or u.ord <> all(v_ord))
        and fits_action(a.action, u.seen)
      returning a.task_id, a.number, a.late_outcome, a.late_detail
    )
    insert into outbox (events)
    select string_agg(outcome_line('contradicted', t.id, i.namespace, i.event_id, t.tenant, t.kind,
             t.channel, l.number, l.late_outcome, l.late_detail, false), chr(10) order by t.id)
    from late l join task t on t.id = l.task_id join intent i on i.id = t.intent_id
    where l.late_outcome in ('ACCEPTED', 'ACCEPTED_REPLAY', 'QUERY_FOUND')
      and t.state not in ('CLAIMED', 'DONE')
    having count(*) > 0;
  end if;

  return query
    select case
             when m.n is not null and v_live[m.n] then 'APPLIED'
             when m.n is not null or a.outcome = 'LEASE_EXPIRED' then 'LATE'
             when a.outcome is not null then 'REPEATED'
             else 'NO_SUCH_ATTEMPT'
           end,
           coalesce(v_state[m.n], t.state),
           case when m.n is not null then v_due[m.n]
                when t.state <= 'UNKNOWN' then t.due_at end,
           a.outcome
    from unnest(p_tasks, p_attempts) with ordinality u(task, attempt, ord)
      left join lateral (select array_position(v_ord, u.ord) as n) m on true
      left join attempt a on m.n is null and a.task_id = u.task and a.number = u.attempt
      left join task t on m.n is null and t.id = u.task
    order by u.ord;
end $$;
revoke all on function escapement.observe from public;
grant execute on function escapement.observe to escapement_dispatcher;
