-- Writes down an operator's act. Internal: granted to nobody.
create or replace function escapement.record_action(p_action text, p_target text, p_reason text,
  p_result text) returns void
language sql security definer set search_path = escapement, pg_temp as $$
  insert into operator_action (action, target, reason, result)
  values (p_action, p_target, left(p_reason, 4096), p_result);
$$;
revoke all on function escapement.record_action from public;

-- Cancels what an identity promised. One row a task: CANCELLED_UNSTARTED (never claimed),
-- CANCELLED (waiting, nothing at large), REQUESTED (running: nothing will be committed), TOO_LATE,
-- ALREADY_CANCELLED; with p_unstarted_only, what was claimed before answers NOT_CANCELLED. No such
-- identity: one row NOT_FOUND without a task.
create or replace function escapement.cancel(p_namespace text, p_event_id text,
  p_reason text default null, p_unstarted_only boolean default false)
returns table (task_id bigint, result text)
language plpgsql security definer set search_path = escapement, pg_temp as $$
#variable_conflict use_column
declare
  v_intent intent%rowtype;
  v_task task%rowtype;
  v_result text;
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
    v_result := case
      when v_task.state = 'CANCELLED' then 'ALREADY_CANCELLED'
      when v_task.state >= 'DONE' then 'TOO_LATE'
      when p_unstarted_only and v_task.attempt > 0 then 'NOT_CANCELLED'
      when v_task.state = 'CLAIMED' then 'REQUESTED'
      when v_task.attempt = 0 then 'CANCELLED_UNSTARTED'
      else 'CANCELLED'
    end;
    if v_result = 'REQUESTED' then
      update task set cancel_requested = true where id = v_task.id and attempt = v_task.attempt;
    elsif v_result in ('CANCELLED', 'CANCELLED_UNSTARTED') then
      update task set state = 'CANCELLED', due_at = null, cancel_requested = true
        where id = v_task.id and attempt = v_task.attempt;
      insert into release_slip (tenant, tasks, bytes) values (v_task.tenant, 1, v_task.bytes);
      v_events := v_events || concat_ws(chr(9), 'O', 'cancelled', v_task.id,
        field(v_intent.namespace), field(v_intent.event_id), field(v_task.tenant),
        field(v_task.kind), field(v_task.channel), v_task.attempt, '\N', field(p_reason));
    end if;
    perform record_action('cancel', p_namespace || '|' || p_event_id || '#' || v_task.id, p_reason,
      v_result);
    return query select v_task.id, v_result;
  end loop;
  if cardinality(v_events) > 0 then
    insert into outbox (events) values (array_to_string(v_events, chr(10)));
  end if;
end $$;
revoke all on function escapement.cancel from public;
grant execute on function escapement.cancel to escapement_operator;
