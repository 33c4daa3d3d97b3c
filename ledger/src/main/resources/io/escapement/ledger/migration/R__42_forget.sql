-- Forgets intents that have ended and whose identity can't come back: acceptance and the latest
-- issued-at of any replay both lie further back than the replay window and an hour. Looks at
-- p_limit intents, going on where the last call stopped and beginning anew at the end, so that no
-- call takes long, also when many old ones are still outstanding. Takes no lock that anybody waits
-- for. Answers with how many intents and tasks it forgot, and whether it has come to the end of
-- what is old enough.
create or replace function escapement.forget(p_limit int)
returns table (intents bigint, tasks bigint, at_end boolean)
language plpgsql security definer set search_path = escapement, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_from bigint;
  v_before timestamptz;
  v_seen bigint[];
  v_old bigint[];
  v_ids bigint[];
  v_tasks bigint[];
begin
  if p_limit not between 1 and 100000 then
    raise exception 'forget: the limit is from 1 to 100000' using errcode = '22023';
  end if;
  select next_intent into v_from from retention for update skip locked;
  if not found then
    return query select 0::bigint, 0::bigint, true; -- somebody else is at it
    return;
  end if;
  select now() - interval '1 second' * (extract(epoch from replay_window) + 3600) into v_before
    from ledger;

  select array_agg(i.id order by i.id),
         array_agg(i.id order by i.id) filter (where i.accepted_at < v_before)
    into v_seen, v_old
  from (select id, accepted_at from intent where id >= v_from order by id limit p_limit) i;

  v_ids := array(
    select i.id from intent i
    where i.id = any(v_old) and i.last_issued_at < v_before
      and not exists (
        select from task t
        where t.id >= i.first_task and t.id < i.first_task + i.task_count and t.state < 'DONE')
    order by i.namespace, i.event_id for update skip locked);
  v_tasks := array(
    select t.id from intent i
      join task t on t.id >= i.first_task and t.id < i.first_task + i.task_count
    where i.id = any(v_ids));
  delete from attempt where task_id = any(v_tasks);
  delete from effect where task_id = any(v_tasks);
  delete from task where id = any(v_tasks);
  delete from intent where id = any(v_ids);

  at_end := v_old is null or cardinality(v_seen) < p_limit;
  update retention
    set next_intent = case when at_end then 0 else v_seen[cardinality(v_seen)] + 1 end;
  return query select cardinality(v_ids)::bigint, cardinality(v_tasks)::bigint, at_end;
end $$;
revoke all on function escapement.forget from public;
grant execute on function escapement.forget to escapement_dispatcher;

-- The same by an operator's hand, and written down.
create or replace function escapement.retire(p_limit int, p_reason text default null)
returns table (intents bigint, tasks bigint, at_end boolean)
language plpgsql security definer set search_path = escapement, pg_temp as $$
begin
  select f.* into intents, tasks, at_end from forget(p_limit) f;
  perform record_action('retire', p_limit::text, p_reason,
    intents || ' intents, ' || tasks || ' tasks');
  return next;
end $$;
revoke all on function escapement.retire from public;
grant execute on function escapement.retire to escapement_operator;
