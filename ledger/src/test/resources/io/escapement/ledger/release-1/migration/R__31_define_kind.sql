-- Defines a kind of work, or changes it. Tasks accepted before keep their queue and channel.
create or replace function escapement.define_kind(p_name text, p_queue text, p_channel text,
  p_max_attempts int, p_lease interval, p_timeout interval, p_backoff_base interval,
  p_backoff_cap interval, p_backoff_jitter double precision, p_exhaustion text, p_reason text)
returns void
language plpgsql security definer set search_path = escapement, pg_temp as $$
begin
  insert into kind (name, queue, channel, max_attempts, lease, timeout, backoff_base, backoff_cap,
    backoff_jitter, exhaustion)
  values (p_name, p_queue, p_channel, p_max_attempts, p_lease, p_timeout, p_backoff_base,
    p_backoff_cap, p_backoff_jitter, p_exhaustion)
  on conflict (name) do update
  set queue = excluded.queue, channel = excluded.channel, max_attempts = excluded.max_attempts,
      lease = excluded.lease, timeout = excluded.timeout, backoff_base = excluded.backoff_base,
      backoff_cap = excluded.backoff_cap, backoff_jitter = excluded.backoff_jitter,
      exhaustion = excluded.exhaustion;
  perform record_action('define_kind', p_name, p_reason, 'DEFINED');
end $$;
revoke all on function escapement.define_kind from public;
grant execute on function escapement.define_kind to escapement_operator;
