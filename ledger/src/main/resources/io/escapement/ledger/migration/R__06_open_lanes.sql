-- Whether a worker with these kinds and channels can run a task. A channel that is named is one that
-- it can call, whatever the kind; kinds, the ones it has handlers for, count where the work is done
-- in this database (p_local), and where no channels are named. Null: any.
--
-- Internal: granted to nobody. Has no settings of its own, so that it is inlined.
create or replace function escapement.serves(p_kind text, p_channel text, p_kinds text[],
  p_channels text[], p_local text[])
returns boolean
language sql immutable parallel safe
return (p_channels is null or p_channel = any(p_channels))
  and (p_kinds is null or p_kind = any(p_kinds)
       or p_channels is not null and p_channel <> all(p_local));
revoke all on function escapement.serves from public;

-- The channels whose work is done in this database.
--
-- Internal: granted to nobody.
create or replace function escapement.local_channels() returns text[]
language sql stable set search_path = escapement, pg_temp
  set enable_seqscan = on as $$
  select array(select name from channel where contract = 'TRANSACTIONAL');
$$;
revoke all on function escapement.local_channels from public;

drop function if exists escapement.is_choosy(text, text[], text[]);
drop function if exists escapement.open_lanes(text, text[], text[]);

-- Whether some of a queue's tasks must be passed over: something is paused, or there are kinds or
-- channels that are not asked for, or kinds to be left out. Null: all are asked for.
--
-- Internal: granted to nobody.
create or replace function escapement.is_choosy(p_queue text, p_kinds text[],
  p_channels text[], p_without text[] default '{}') returns boolean
language sql stable set search_path = escapement, pg_temp
  -- these tables are a page each, and mostly empty
  set enable_seqscan = on as $$
  select exists (select from pause)
      or (p_kinds is not null or p_channels is not null)
        and exists (select from kind k cross join unnest(k.channels) c
                    where k.queue = p_queue
                      and (not serves(k.name, c, p_kinds, p_channels, local_channels())
                           or k.name = any(p_without)));
$$;
revoke all on function escapement.is_choosy from public;

-- The lanes of a queue in which something waits, those left out that are paused, not asked for or of
-- a kind in p_without. Steps from lane to lane through the index, however much waits in each.
--
-- Internal: granted to nobody.
create or replace function escapement.open_lanes(p_queue text, p_kinds text[],
  p_channels text[], p_without text[] default '{}')
returns table (tenant text, kind text, channel text)
language plpgsql stable set search_path = escapement, pg_temp
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
declare
  v_local constant text[] := local_channels();
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
       and v_kind <> all(p_without)
       and serves(v_kind, v_channel, p_kinds, p_channels, v_local) then
      tenant := v_tenant;
      kind := v_kind;
      channel := v_channel;
      return next;
    end if;
  end loop;
end $$;
revoke all on function escapement.open_lanes from public;
