-- Stops claims from a queue, of a kind, to a channel or for a tenant; what runs ends. PAUSED or
-- ALREADY_PAUSED. A name that nothing has yet may be paused beforehand.
create or replace function escapement.pause(p_scope text, p_name text, p_reason text default null)
returns text
language plpgsql security definer set search_path = escapement, pg_temp as $$
declare
  v_result text := 'PAUSED';
begin
  if p_scope is null or p_scope not in ('queue', 'kind', 'channel', 'tenant') then
    raise exception 'pause: the scope is queue, kind, channel or tenant, not %', p_scope
      using errcode = '22023';
  end if;
  insert into pause (scope, name, reason) values (p_scope, p_name, cut(p_reason, 8192))
    on conflict do nothing;
  if not found then
    v_result := 'ALREADY_PAUSED';
  end if;
  perform record_action('pause', p_scope || ' ' || p_name, p_reason, v_result);
  return v_result;
end $$;
revoke all on function escapement.pause from public;
grant execute on function escapement.pause to escapement_operator;

-- Ends a pause: RESUMED or NOT_PAUSED. Dispatchers find what is due with their next sweep.
create or replace function escapement.resume(p_scope text, p_name text, p_reason text default null)
returns text
language plpgsql security definer set search_path = escapement, pg_temp as $$
declare
  v_result text := 'RESUMED';
begin
  delete from pause where scope = p_scope and name = p_name;
  if not found then
    v_result := 'NOT_PAUSED';
  end if;
  perform record_action('resume', p_scope || ' ' || p_name, p_reason, v_result);
  return v_result;
end $$;
revoke all on function escapement.resume from public;
grant execute on function escapement.resume to escapement_operator;

-- Pauses a channel for its worker: its provider knows the credentials no more, and a person must look.
-- PAUSED or ALREADY_PAUSED; resume ends it.
create or replace function escapement.suspend(p_channel text, p_reason text)
returns text
language plpgsql security definer set search_path = escapement, pg_temp as $$
declare
  v_result text := 'PAUSED';
begin
  if not exists (select from channel where name = p_channel and contract <> 'TRANSACTIONAL') then
    raise exception 'suspend: there is no external channel %', p_channel using errcode = '22023';
  end if;
  insert into pause (scope, name, reason) values ('channel', p_channel, cut(p_reason, 8192))
    on conflict do nothing;
  if not found then
    v_result := 'ALREADY_PAUSED';
  end if;
  perform record_action('suspend', 'channel ' || p_channel, p_reason, v_result);
  return v_result;
end $$;
revoke all on function escapement.suspend from public;
grant execute on function escapement.suspend to escapement_dispatcher;
