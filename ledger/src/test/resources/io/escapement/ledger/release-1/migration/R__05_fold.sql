-- Folds every visible release slip into the global row and its tenant's row, together.
--
-- The caller holds the global row's lock. Internal: granted to nobody.
create or replace function escapement.fold_locked() returns void
language plpgsql security definer set search_path = escapement, pg_temp as $$
begin
  with gone as (
    delete from release_slip returning tenant, tasks, bytes
  ),
  sums as (
    select tenant, sum(tasks) as tasks, sum(bytes) as bytes from gone group by tenant
    union all
    select '', sum(tasks), sum(bytes) from gone having count(*) > 0
  )
  update budget b
  set used_tasks = b.used_tasks - s.tasks, used_bytes = b.used_bytes - s.bytes
  from sums s
  where b.tenant = s.tenant;
end $$;
revoke all on function escapement.fold_locked from public;

-- The sweep's part of folding: gives way to an admission that holds the budget.
create or replace function escapement.fold() returns boolean
language plpgsql security definer set search_path = escapement, pg_temp as $$
begin
  if not exists (select from release_slip) then
    return false;
  end if;
  perform from budget where tenant = '' for update skip locked;
  if not found then
    return false;
  end if;
  perform fold_locked();
  return true;
end $$;
revoke all on function escapement.fold from public;
grant execute on function escapement.fold to escapement_dispatcher, escapement_operator;
