-- Logs which transactions are running, if the owner of this function may. A slot lets log go only up
-- to such a record; the server writes one every 15 seconds, in which others can write a lot.
-- PostgreSQL 15 has no function for it, and others than superusers must be granted it.
create or replace function escapement.log_snapshot() returns boolean
language plpgsql volatile security definer set search_path = escapement, pg_temp as $$
begin
  if to_regprocedure('pg_catalog.pg_log_standby_snapshot()') is null
    or not has_function_privilege('pg_catalog.pg_log_standby_snapshot()', 'execute') then
    return false;
  end if;
  perform pg_log_standby_snapshot();
  return true;
end $$;
revoke all on function escapement.log_snapshot from public;
grant execute on function escapement.log_snapshot to escapement_relay;
