-- Writes down an operator's act, and for whom if a command asked for it: command() leaves that in
-- settings of its transaction. Internal: granted to nobody.
create or replace function escapement.record_action(p_action text, p_target text, p_reason text,
  p_result text) returns void
language sql security definer set search_path = escapement, pg_temp as $$
  insert into operator_action (action, target, reason, result, source, event_id, event_digest)
  values (p_action, cut(p_target, 4096), cut(p_reason, 8192), p_result,
    nullif(current_setting('escapement.command_source', true), ''),
    nullif(current_setting('escapement.command_id', true), ''),
    decode(nullif(current_setting('escapement.command_digest', true), ''), 'hex'));
$$;
revoke all on function escapement.record_action from public;

-- An outcome event about a task that no observation settled. Internal: granted to nobody.
create or replace function escapement.task_line(p_change text, p_task escapement.task,
  p_intent escapement.intent, p_observation text, p_detail text) returns text
language sql stable security definer set search_path = escapement, pg_temp as $$
  select outcome_line(p_change, p_task.id, p_intent.namespace, p_intent.event_id, p_task.tenant,
    p_task.kind, p_task.channel, p_task.attempt, p_observation, cut(p_detail, 8192), false);
$$;
revoke all on function escapement.task_line from public;

-- The hint that a task waits. Internal: granted to nobody.
create or replace function escapement.hint_line(p_task escapement.task) returns text
language sql stable security definer set search_path = escapement, pg_temp as $$
  select concat_ws(chr(9), 'D', field(p_task.queue), p_task.id, field(p_task.tenant), p_task.slot,
    (extract(epoch from p_task.due_at) * 1000000)::bigint);
$$;
revoke all on function escapement.hint_line from public;

-- Cancels what an identity promised. One row a task: CANCELLED_UNSTARTED (never claimed),
-- CANCELLED (nothing at large), REQUESTED (running: no effect will be committed here, no new call
-- begun; or unknown: no new call, the truth is still sought), TOO_LATE, ALREADY_CANCELLED; with
-- p_unstarted_only, what was claimed before answers NOT_CANCELLED. No such identity: one row
-- NOT_FOUND without a task. A notification to nobody answers with no row.
create or replace function escapement.cancel(p_namespace text, p_event_id text,
  p_reason text default null, p_unstarted_only boolean default false)
returns table (task_id bigint, result text)
language plpgsql security definer set search_path = escapement, pg_temp as $$
#variable_conflict use_column
declare
  v_intent intent%rowtype;
  v_task task%rowtype;
  v_result text;
  v_parks boolean;
  v_claimed boolean; -- ever
  v_events text[] := '{}';
begin
  select * into v_intent from intent
    where namespace = p_namespace and event_id = p_event_id;
  if not found then
    perform record_action('cancel', p_namespace || '|' || p_event_id, p_reason, 'NOT_FOUND');
    return query select null::bigint, 'NOT_FOUND';
    return;
  end if;
  for v_task in
    select * from task
    where id >= v_intent.first_task and id < v_intent.first_task + v_intent.task_count
    order by id for update
  loop
    v_claimed := v_task.state = 'CLAIMED' or v_task.attempt > 0 and exists (
      select from attempt a where a.task_id = v_task.id and a.action <> 'NONE');
    v_result := case
      when v_task.state = 'CANCELLED' then 'ALREADY_CANCELLED'
      when v_task.state >= 'DONE' then 'TOO_LATE'
      when p_unstarted_only and v_claimed then 'NOT_CANCELLED'
      when v_task.state = 'CLAIMED' or v_task.uncertain then 'REQUESTED'
      when v_claimed then 'CANCELLED'
      else 'CANCELLED_UNSTARTED'
    end;
    if v_result = 'REQUESTED' then
      -- What is unknown waits for a person from now on, unless its channel can be asked.
      v_parks := v_task.state = 'QUARANTINED' or v_task.state = 'UNKNOWN'
        and v_task.due_at is not null
        and (select contract from channel where name = v_task.channel) <> 'QUERYABLE';
      update task
      set cancel_requested = true,
          state = case when v_parks then 'UNKNOWN' else state end,
          due_at = case when v_parks then null else due_at end
      where id = v_task.id and attempt = v_task.attempt;
      if v_parks then
        v_events := v_events || task_line('parked', v_task, v_intent, null, p_reason);
      end if;
    elsif v_result in ('CANCELLED', 'CANCELLED_UNSTARTED') then
      update task set state = 'CANCELLED', due_at = null, cancel_requested = true
        where id = v_task.id and attempt = v_task.attempt;
      insert into release_slip (tenant, tasks, bytes) values (v_task.tenant, 1, v_task.bytes);
      v_events := v_events || task_line('cancelled', v_task, v_intent, null, p_reason);
    end if;
    perform record_action('cancel', p_namespace || '|' || p_event_id || '#' || v_task.id, p_reason,
      v_result);
    return query select v_task.id, v_result;
  end loop;
  if v_intent.task_count = 0 then
    perform record_action('cancel', p_namespace || '|' || p_event_id, p_reason, 'NO_TASKS');
  end if;
  if cardinality(v_events) > 0 then
    insert into outbox (events) values (array_to_string(v_events, chr(10)));
  end if;
end $$;
revoke all on function escapement.cancel from public;
grant execute on function escapement.cancel to escapement_operator;
