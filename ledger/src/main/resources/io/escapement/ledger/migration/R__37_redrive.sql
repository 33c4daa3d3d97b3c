-- Puts a quarantined task back to work: the same identity and seat, the next attempt, fresh tries.
-- What is certain is due at once. What is uncertain is UNKNOWN and due as soon as it can be
-- asked for or sent again, or parked where it may not be. The caller says which attempt it has seen last, so that a stale
-- screen redrives nothing. REDRIVEN, WRONG_ATTEMPT, NOT_QUARANTINED, NOT_FOUND.
create or replace function escapement.redrive(p_task bigint, p_attempt int,
  p_reason text default null) returns text
language plpgsql security definer set search_path = escapement, pg_temp as $$
declare
  v_task task%rowtype;
  v_intent intent%rowtype;
  v_result text;
  v_parks boolean;
begin
  select * into v_task from task where id = p_task for update;
  v_result := case
    when not found then 'NOT_FOUND'
    when v_task.state <> 'QUARANTINED' then 'NOT_QUARANTINED'
    when v_task.attempt is distinct from p_attempt then 'WRONG_ATTEMPT'
    else 'REDRIVEN'
  end;
  if v_result = 'REDRIVEN' then
    insert into attempt (task_id, number, action, finished_at, outcome, detail)
    values (p_task, p_attempt + 1, 'NONE', clock_timestamp(), 'REDRIVEN', cut(p_reason, 8192));
    v_parks := v_task.uncertain and (
      select c.contract = 'OPAQUE' or c.contract = 'IDEMPOTENT' and v_task.cancel_requested
      from channel c where c.name = v_task.channel);
    update task t
    set state = case when v_task.uncertain then 'UNKNOWN' else 'SCHEDULED' end::task_state,
        due_at = case when not v_parks then
          greatest(clock_timestamp(),
            case when v_task.uncertain then ask_from(t.id, t.channel) end) end,
        attempt = p_attempt + 1,
        tries_left = coalesce(t.max_attempts, k.max_attempts)
    from kind k
    where t.id = p_task and t.attempt = p_attempt and k.name = t.kind
    returning t.* into v_task;
    select * into v_intent from intent where id = v_task.intent_id;
    insert into outbox (events)
    values (concat_ws(chr(10),
      task_line('redriven', v_task, v_intent, 'REDRIVEN', p_reason),
      case when v_parks then task_line('parked', v_task, v_intent, 'REDRIVEN', p_reason)
        else hint_line(v_task) end));
  end if;
  perform record_action('redrive', p_task || '/' || coalesce(p_attempt::text, ''), p_reason,
    v_result);
  return v_result;
end $$;
revoke all on function escapement.redrive from public;
grant execute on function escapement.redrive to escapement_operator;

-- The same for many: quarantined tasks of a kind, of a channel, or whose last attempt ended like
-- that (null: any), lowest ids first, at most p_limit. One row a task, BUSY if it was locked.
create or replace function escapement.redrive_all(p_kind text, p_channel text, p_outcome text,
  p_limit int, p_reason text default null)
returns table (task_id bigint, result text)
language plpgsql security definer set search_path = escapement, pg_temp as $$
#variable_conflict use_column
declare
  v_task record;
begin
  if p_limit not between 1 and 10000 then
    raise exception 'redrive_all: the limit is from 1 to 10000' using errcode = '22023';
  end if;
  for v_task in
    select t.id, t.attempt,
           exists (select from task l where l.id = t.id for update skip locked) as free
    from (
      select t.id, t.attempt from task t
      where t.state = 'QUARANTINED'
        and (p_kind is null or t.kind = p_kind) and (p_channel is null or t.channel = p_channel)
        and (p_outcome is null or p_outcome = (
          select a.outcome from attempt a where a.task_id = t.id order by a.number desc limit 1))
      order by t.id limit p_limit
    ) t
    order by t.id
  loop
    task_id := v_task.id;
    if v_task.free then
      result := redrive(v_task.id, v_task.attempt, p_reason);
    else
      result := 'BUSY';
      perform record_action('redrive', v_task.id || '/' || v_task.attempt, p_reason, result);
    end if;
    return next;
  end loop;
  perform record_action('redrive_all', concat_ws(' ', 'kind', coalesce(p_kind, 'any'), 'channel',
    coalesce(p_channel, 'any'), 'outcome', coalesce(p_outcome, 'any')), p_reason, 'DONE');
end $$;
revoke all on function escapement.redrive_all from public;
grant execute on function escapement.redrive_all to escapement_operator;
