-- What one claim holds: asked when the claim's answer was lost.
create or replace function escapement.claimed_by(p_owner text)
returns table (task_id bigint, attempt int, tenant text, kind text, channel text, slot int,
  action escapement.task_action, uncertain boolean, address text, lease_micros bigint,
  timeout_micros bigint, due_at timestamptz, claimed_at timestamptz, tries_left int,
  idempotency_key text, namespace text, event_id text, subject text, content_type text,
  value bytea)
language sql stable security definer set search_path = escapement, pg_temp as $$
  select * from leased(p_owner, array(
    select id from task where state = 'CLAIMED' and lease_owner = p_owner));
$$;
revoke all on function escapement.claimed_by from public;
grant execute on function escapement.claimed_by to escapement_dispatcher;
