-- The oldest outbox rows that are past the grace time, and how far the WAL is written. A row that
-- this statement sees was committed before the position that it returns was read, so once the
-- relay has passed that position, every one of these rows is relayed. Ids alone could not say it:
-- they are taken before the commit.
create or replace function escapement.prunable_outbox(p_grace interval, p_limit int)
returns table (ids bigint[], written text)
language plpgsql volatile security definer set search_path = escapement, pg_temp as $$
declare
  v_ids bigint[];
begin
  select array_agg(o.id) into v_ids
  from (select id from outbox where created_at < now() - p_grace order by id limit p_limit) o;
  return query select coalesce(v_ids, '{}'), pg_current_wal_insert_lsn()::text;
end $$;
revoke all on function escapement.prunable_outbox from public;
grant execute on function escapement.prunable_outbox to escapement_relay;
