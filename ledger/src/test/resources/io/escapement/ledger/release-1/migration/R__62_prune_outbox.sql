-- Deletes outbox rows that are known to be relayed; see prunable_outbox.
create or replace function escapement.prune_outbox(p_ids bigint[]) returns bigint
language plpgsql volatile security definer set search_path = escapement, pg_temp as $$
declare
  v_deleted bigint;
begin
  delete from outbox where id = any(p_ids);
  get diagnostics v_deleted = row_count;
  return v_deleted;
end $$;
revoke all on function escapement.prune_outbox from public;
grant execute on function escapement.prune_outbox to escapement_relay;
