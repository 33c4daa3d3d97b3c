-- A drain rate as of now: what was measured fades with a time constant of ten seconds.
--
-- Internal: granted to nobody.
create or replace function escapement.decayed(p_rate double precision, p_at timestamptz)
returns double precision
language sql stable
return p_rate * exp(-least(extract(epoch from greatest(now() - p_at, '0'))::double precision, 600) / 10);
revoke all on function escapement.decayed from public;

-- How long a request should wait, in milliseconds, that found so many seats missing which come back
-- at a rate (tasks a second): 0.2 to 60 seconds, and up to half as long again by chance, so that
-- those who were refused together do not return together. Internal: granted to nobody.
create or replace function escapement.retry_after(p_missing bigint, p_rate double precision)
returns bigint
language sql volatile
return (1000 * least(greatest(greatest(p_missing, 1) / greatest(p_rate, 0.001), 0.2), 60)
        * (1 + random() / 2))::bigint;
revoke all on function escapement.retry_after from public;

-- Folds every visible release slip into the global row and its tenant's row, together, and notes how
-- fast seats come back: an exponentially fading sum of what was released.
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
  set used_tasks = b.used_tasks - s.tasks, used_bytes = b.used_bytes - s.bytes,
      drain_rate = decayed(b.drain_rate, b.drained_at) + s.tasks / 10.0, drained_at = now()
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
