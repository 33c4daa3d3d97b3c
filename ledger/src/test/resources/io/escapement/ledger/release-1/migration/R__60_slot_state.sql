-- What there is to know of a replication slot; no row if there is no such slot. The reason why a
-- slot is of no use any more has moved between columns from version to version: hence the JSON.
create or replace function escapement.slot_state(p_slot text)
returns table (plugin text, database text, active_pid int, confirmed text, written text,
               retained_bytes bigint, unusable text)
language plpgsql stable security definer set search_path = escapement, pg_temp as $$
begin
  return query
    select s.plugin::text, s.database::text, s.active_pid, s.confirmed_flush_lsn::text,
           pg_current_wal_insert_lsn()::text,
           pg_wal_lsn_diff(pg_current_wal_insert_lsn(), s.restart_lsn)::bigint,
           case
             when s.wal_status = 'lost' then 'its WAL has been removed'
             when to_jsonb(s) ->> 'invalidation_reason' is not null
               then 'invalidated: ' || (to_jsonb(s) ->> 'invalidation_reason')
             when to_jsonb(s) ->> 'conflicting' = 'true' then 'invalidated by a conflict'
             when s.confirmed_flush_lsn is null then 'its creation was never completed'
           end
    from pg_replication_slots s
    where s.slot_name = p_slot;
end $$;
revoke all on function escapement.slot_state from public;
grant execute on function escapement.slot_state
  to escapement_relay, escapement_operator, escapement_reader;
