-- Whether some of a queue's tasks must be passed over: something is paused, or there are kinds or
-- channels that are not asked for. Null: all are asked for.
--
-- Internal: granted to nobody.
create or replace function escapement.is_choosy(p_queue text, p_kinds text[],
  p_channels text[]) returns boolean
language sql stable set search_path = escapement, pg_temp
  -- these tables are a page each, and mostly empty
  set enable_seqscan = on as $$
  select exists (select from pause)
      or (p_kinds is not null or p_channels is not null)
        and exists (select from kind where queue = p_queue
                      and (name <> all(p_kinds) or not channels <@ p_channels));
$$;
revoke all on function escapement.is_choosy from public;

-- The lanes of a queue in which something waits, those left out that are paused or not asked
-- for. Steps from lane to lane through the index, however much waits in each.
--
-- Internal: granted to nobody.
create or replace function escapement.open_lanes(p_queue text, p_kinds text[],
  p_channels text[])
returns table (tenant text, kind text, channel text)
language plpgsql stable set search_path = escapement, pg_temp
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
declare
  v_tenants constant text[] := array(select p.name from pause p where p.scope = 'tenant');
  v_kinds constant text[] := array(select p.name from pause p where p.scope = 'kind');
  v_channels constant text[] := array(select p.name from pause p where p.scope = 'channel');
  v_tenant text := '';
  v_kind text := '';
  v_channel text := '';
begin
  if exists (select from pause p where p.scope = 'queue' and p.name = p_queue) then
    return;
  end if;
  loop
    select t.tenant, t.kind, t.channel into v_tenant, v_kind, v_channel
    from task t
    where t.queue = p_queue and (t.tenant, t.kind, t.channel) > (v_tenant, v_kind, v_channel)
      and t.state in ('SCHEDULED', 'UNKNOWN') and t.due_at is not null
    order by t.tenant, t.kind, t.channel limit 1;
    exit when not found;
    if v_tenant <> all(v_tenants) and v_kind <> all(v_kinds) and v_channel <> all(v_channels)
       and (p_kinds is null or v_kind = any(p_kinds))
       and (p_channels is null or v_channel = any(p_channels)) then
      tenant := v_tenant;
      kind := v_kind;
      channel := v_channel;
      return next;
    end if;
  end loop;
end $$;
revoke all on function escapement.open_lanes from public;
