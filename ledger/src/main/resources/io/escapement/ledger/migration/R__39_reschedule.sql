-- Moves a waiting task to another due time; a past one means now, and what is to be asked for is
-- not asked for before it can be found. The caller says which attempt it
-- has seen last. RESCHEDULED, RUNNING, WRONG_ATTEMPT, NOT_WAITING, NOT_FOUND.
create or replace function escapement.reschedule(p_task bigint, p_attempt int, p_due timestamptz,
  p_reason text default null) returns text
language plpgsql security definer set search_path = escapement, pg_temp as $$
declare
  v_task task%rowtype;
  v_result text;
begin
  if p_due is null or p_due > now() + interval '100 years' then
    raise exception 'reschedule: the due time must be within a hundred years'
      using errcode = '22023';
  end if;
  select * into v_task from task where id = p_task for update;
  v_result := case
    when not found then 'NOT_FOUND'
    when v_task.state = 'CLAIMED' then 'RUNNING'
    when v_task.due_at is null then 'NOT_WAITING'
    when v_task.attempt is distinct from p_attempt then 'WRONG_ATTEMPT'
    else 'RESCHEDULED'
  end;
  if v_result = 'RESCHEDULED' then
    update task
      set due_at = greatest(p_due, clock_timestamp(),
            case when uncertain then ask_from(id, channel) end)
      where id = p_task and attempt = p_attempt
      returning * into v_task;
    insert into outbox (events) values (hint_line(v_task));
  end if;
  perform record_action('reschedule', p_task || '/' || coalesce(p_attempt::text, ''), p_reason,
    v_result);
  return v_result;
end $$;
revoke all on function escapement.reschedule from public;
grant execute on function escapement.reschedule to escapement_operator;
