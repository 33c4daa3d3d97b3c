-- Takes a waiting task out of service; it keeps its seat, and what is uncertain stays uncertain.
-- QUARANTINED, RUNNING, ALREADY_QUARANTINED, NOT_WAITING (ended or parked), NOT_FOUND.
create or replace function escapement.quarantine(p_task bigint, p_reason text default null)
returns text
language plpgsql security definer set search_path = escapement, pg_temp as $$
declare
  v_task task%rowtype;
  v_intent intent%rowtype;
  v_result text;
begin
  select * into v_task from task where id = p_task for update;
  v_result := case
    when not found then 'NOT_FOUND'
    when v_task.state = 'CLAIMED' then 'RUNNING'
    when v_task.state = 'QUARANTINED' then 'ALREADY_QUARANTINED'
    when v_task.due_at is null then 'NOT_WAITING'
    else 'QUARANTINED'
  end;
  if v_result = 'QUARANTINED' then
    update task set state = 'QUARANTINED', due_at = null
      where id = p_task and attempt = v_task.attempt;
    select * into v_intent from intent where id = v_task.intent_id;
    insert into outbox (events)
      values (task_line('quarantined', v_task, v_intent, null, p_reason));
  end if;
  perform record_action('quarantine', p_task::text, p_reason, v_result);
  return v_result;
end $$;
revoke all on function escapement.quarantine from public;
grant execute on function escapement.quarantine to escapement_operator;
