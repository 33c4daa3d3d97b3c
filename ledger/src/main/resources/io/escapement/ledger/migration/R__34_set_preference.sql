-- Sets where and whether a recipient wants a channel. With a version (producers of preferences may
-- be late or repeat themselves) it must be above the one that is stored: SET, or STALE and nothing
-- was changed. Without one, the next.
create or replace function escapement.set_preference(p_tenant text, p_subject text,
  p_channel text, p_address text, p_enabled boolean, p_version bigint default null,
  p_reason text default null) returns text
language plpgsql security definer set search_path = escapement, pg_temp as $$
declare
  v_result text := 'SET';
begin
  if not exists (select from channel where name = p_channel) then
    raise exception 'preference: there is no channel %', p_channel using errcode = '22023';
  end if;
  insert into preference as p (tenant, subject, channel, address, enabled, version)
  values (p_tenant, p_subject, p_channel, p_address, p_enabled, coalesce(p_version, 1))
  on conflict (tenant, subject, channel) do update
  set address = excluded.address, enabled = excluded.enabled, updated_at = clock_timestamp(),
      version = coalesce(p_version, p.version + 1)
  where p_version is null or p_version > p.version;
  if not found then
    v_result := 'STALE';
  end if;
  perform record_action('set_preference', p_tenant || '|' || p_subject || '|' || p_channel,
    p_reason, v_result);
  return v_result;
end $$;
revoke all on function escapement.set_preference from public;
grant execute on function escapement.set_preference to escapement_operator;
