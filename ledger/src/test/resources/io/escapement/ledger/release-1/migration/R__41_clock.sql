-- The clock that due times and leases are judged by.
create or replace function escapement.clock() returns timestamptz
language sql volatile security definer set search_path = escapement, pg_temp as $$
  select clock_timestamp();
$$;
revoke all on function escapement.clock from public;
grant execute on function escapement.clock
  to escapement_ingest, escapement_relay, escapement_dispatcher, escapement_operator,
     escapement_reader;
