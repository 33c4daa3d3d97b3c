-- Sets the budget of the whole ledger. It may go below what is used: nothing is taken back, and
-- nothing new is admitted until it fits.
create or replace function escapement.set_limits(p_max_tasks bigint, p_max_bytes bigint,
  p_reason text) returns void
language plpgsql security definer set search_path = escapement, pg_temp as $$
begin
  update budget set max_tasks = p_max_tasks, max_bytes = p_max_bytes where tenant = '';
  perform record_action('set_limits', 'global', p_reason,
    p_max_tasks || ' tasks, ' || p_max_bytes || ' bytes');
end $$;
revoke all on function escapement.set_limits from public;
grant execute on function escapement.set_limits to escapement_operator;

-- Sets a tenant's budget and its weight in fair service, 1 to 1000.
create or replace function escapement.set_tenant(p_tenant text, p_max_tasks bigint,
  p_max_bytes bigint, p_weight int, p_reason text) returns void
language plpgsql security definer set search_path = escapement, pg_temp as $$
begin
  if p_tenant = '' then
    raise exception 'a tenant''s name can''t be empty' using errcode = '22023';
  end if;
  -- budgets are locked global row first, here too
  perform from budget where tenant = '' for update;
  insert into budget (tenant, max_tasks, max_bytes, weight)
  values (p_tenant, p_max_tasks, p_max_bytes, p_weight)
  on conflict (tenant) do update
  set max_tasks = excluded.max_tasks, max_bytes = excluded.max_bytes, weight = excluded.weight;
  perform record_action('set_tenant', p_tenant, p_reason,
    p_max_tasks || ' tasks, ' || p_max_bytes || ' bytes, weight ' || p_weight);
end $$;
revoke all on function escapement.set_tenant from public;
grant execute on function escapement.set_tenant to escapement_operator;
