-- A person's word on a parked task, once: DONE (it was accepted), FAILED (give it up), RETRY
-- (nothing was accepted: send it again, with fresh tries; if its cancellation was asked for, it is
-- cancelled instead). Answers with the new state, or NOT_PARKED, or NOT_FOUND.
create or replace function escapement.resolve(p_task bigint, p_resolution text,
  p_note text default null) returns text
language plpgsql security definer set search_path = escapement, pg_temp as $$
declare
  v_task task%rowtype;
  v_result text;
begin
  if p_resolution is null or p_resolution not in ('DONE', 'FAILED', 'RETRY') then
    raise exception 'resolve: DONE, FAILED or RETRY, not %', p_resolution using errcode = '22023';
  end if;
  select * into v_task from task where id = p_task for update;
  v_result := case
    when not found then 'NOT_FOUND'
    when v_task.state <> 'UNKNOWN' or v_task.due_at is not null then 'NOT_PARKED'
  end;
  if v_result is null then
    select s.state::text into v_result
    from settle(array[p_task], array['MANUAL_' || p_resolution], array[p_note]) s;
  end if;
  perform record_action('resolve', p_task || ' ' || p_resolution, p_note, v_result);
  return v_result;
end $$;
revoke all on function escapement.resolve from public;
grant execute on function escapement.resolve to escapement_operator;

-- The same for many: parked tasks of a kind, of a channel, or whose last attempt ended like that
-- (null: any), lowest ids first, at most p_limit. One row a task, BUSY if it was locked.
create or replace function escapement.resolve_all(p_resolution text, p_kind text, p_channel text,
  p_outcome text, p_limit int, p_note text default null)
returns table (task_id bigint, result text)
language plpgsql security definer set search_path = escapement, pg_temp as $$
#variable_conflict use_column
declare
  v_task record;
begin
  if p_resolution is null or p_resolution not in ('DONE', 'FAILED', 'RETRY') then
    raise exception 'resolve_all: DONE, FAILED or RETRY, not %', p_resolution
      using errcode = '22023';
  end if;
  if p_limit not between 1 and 10000 then
    raise exception 'resolve_all: the limit is from 1 to 10000' using errcode = '22023';
  end if;
  for v_task in
    select t.id, exists (select from task l where l.id = t.id for update skip locked) as free
    from (
      select t.id from task t
      where t.state = 'UNKNOWN' and t.due_at is null
        and (p_kind is null or t.kind = p_kind) and (p_channel is null or t.channel = p_channel)
        and (p_outcome is null or p_outcome = (
          select a.outcome from attempt a where a.task_id = t.id order by a.number desc limit 1))
      order by t.id limit p_limit
    ) t
    order by t.id
  loop
    task_id := v_task.id;
    if v_task.free then
      result := resolve(v_task.id, p_resolution, p_note);
    else
      result := 'BUSY';
      perform record_action('resolve', v_task.id || ' ' || p_resolution, p_note, result);
    end if;
    return next;
  end loop;
  perform record_action('resolve_all', concat_ws(' ', p_resolution, 'kind', coalesce(p_kind, 'any'),
    'channel', coalesce(p_channel, 'any'), 'outcome', coalesce(p_outcome, 'any')), p_note, 'DONE');
end $$;
revoke all on function escapement.resolve_all from public;
grant execute on function escapement.resolve_all to escapement_operator;
