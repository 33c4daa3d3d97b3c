-- Takes the seats of what a batch accepts: the global row first, under whose lock the tenants' need no
-- order of their own.
--
-- With p_if_room nobody has looked whether there is room: where there is none, or a tenant has no row
-- yet, the call fails with ES003. Internal: granted to nobody.
create or replace function escapement.take_seats(p_tenant text[], p_decision text[], p_tasks int[],
  p_value bytea[], p_if_room boolean) returns void
language plpgsql security definer set search_path = escapement, pg_temp as $$
#variable_conflict use_column
declare
  v_tenants text[];
  v_tasks bigint[];
  v_bytes bigint[];
  v_all_tasks bigint;
  v_all_bytes bigint;
  v_taken int;
begin
  select array_agg(n.tenant order by n.tenant), array_agg(n.tasks order by n.tenant),
         array_agg(n.bytes order by n.tenant), sum(n.tasks), sum(n.bytes)
    into v_tenants, v_tasks, v_bytes, v_all_tasks, v_all_bytes
  from (
    select u.tenant, sum(u.tasks) as tasks, sum(u.tasks * octet_length(u.value)::bigint) as bytes
    from unnest(p_tenant, p_decision, p_tasks, p_value) u(tenant, decision, tasks, value)
    where u.decision = 'accepted'
    group by u.tenant
  ) n;

  update budget
  set used_tasks = used_tasks + v_all_tasks, used_bytes = used_bytes + v_all_bytes
  where tenant = ''
    and (not p_if_room or v_all_tasks = 0
         or used_tasks + v_all_tasks <= max_tasks and used_bytes + v_all_bytes <= max_bytes);
  get diagnostics v_taken = row_count;

  if p_if_room and v_taken = 1 then
    update budget b
    set used_tasks = b.used_tasks + u.tasks, used_bytes = b.used_bytes + u.bytes
    from unnest(v_tenants, v_tasks, v_bytes) u(tenant, tasks, bytes)
    where b.tenant = u.tenant
      and (u.tasks = 0
           or b.used_tasks + u.tasks <= b.max_tasks and b.used_bytes + u.bytes <= b.max_bytes);
    get diagnostics v_taken = row_count;
    if v_taken = cardinality(v_tenants) then
      return;
    end if;
  end if;
  if p_if_room then
    raise exception 'escapement: what was admitted first does not fit' using errcode = 'ES003';
  end if;

  insert into budget as b (tenant, max_tasks, max_bytes, used_tasks, used_bytes)
  select u.tenant, coalesce(l.default_tenant_tasks, 0), coalesce(l.default_tenant_bytes, 0),
         u.tasks, u.bytes
  from unnest(v_tenants, v_tasks, v_bytes) u(tenant, tasks, bytes) cross join ledger l
  order by u.tenant
  on conflict (tenant) do update
    set used_tasks = b.used_tasks + excluded.used_tasks,
        used_bytes = b.used_bytes + excluded.used_bytes;
end $$;
revoke all on function escapement.take_seats from public;
