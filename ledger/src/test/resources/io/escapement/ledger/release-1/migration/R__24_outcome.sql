-- How an attempt ended; null while it runs and if there was none. Settles a COMMIT whose answer
-- was lost.
create or replace function escapement.outcome(p_task bigint, p_attempt int) returns text
language sql stable security definer set search_path = escapement, pg_temp as $$
  select outcome from attempt where task_id = p_task and number = p_attempt;
$$;
revoke all on function escapement.outcome from public;
grant execute on function escapement.outcome to escapement_dispatcher, escapement_operator;
