-- What operators and status read. Views run with their owner's rights, so a reader needs no table.

create or replace view escapement.settings as
  select id as ledger_id, (extract(epoch from replay_window) * 1000)::bigint as replay_window_millis,
         max_payload_bytes
  from escapement.ledger;

create or replace view escapement.backlog as
  select queue, state, count(*) as tasks, count(*) filter (where due_at <= now()) as due,
         min(due_at) as oldest_due_at
  from escapement.task
  where state < 'DONE'
  group by queue, state;

create or replace view escapement.budgets as
  select nullif(b.tenant, '') as tenant,
         b.used_tasks - coalesce(s.tasks, 0) as used_tasks, b.max_tasks,
         b.used_bytes - coalesce(s.bytes, 0) as used_bytes, b.max_bytes, b.weight
  from escapement.budget b
    left join (
      select tenant, sum(tasks) as tasks, sum(bytes) as bytes
      from escapement.release_slip group by tenant
      union all
      select '', sum(tasks), sum(bytes) from escapement.release_slip having count(*) > 0
    ) s on s.tenant = b.tenant;

create or replace view escapement.in_flight as
  select id as task, queue, tenant, kind, channel, attempt, lease_owner, claimed_at, lease_until,
         cancel_requested
  from escapement.task where state = 'CLAIMED';

create or replace view escapement.quarantine as
  select id as task, queue, tenant, kind, channel, attempt, uncertain
  from escapement.task where state = 'QUARANTINED';

create or replace view escapement.task_counts as
  select state, count(*) as tasks from escapement.task group by state;

create or replace view escapement.ledger_counts as
  select (select count(*) from escapement.intent) as intents,
         (select count(*) from escapement.effect) as effects,
         (select count(*) from escapement.outbox) as outbox_rows;

-- How long after its due time each claim came, milliseconds, over what is still in the table.
create or replace view escapement.lateness as
  select count(*) as claims,
         percentile_cont(0.5) within group (order by late) as p50_ms,
         percentile_cont(0.99) within group (order by late) as p99_ms,
         max(late) as max_ms
  from (
    select extract(epoch from claimed_at - due_at)::double precision * 1000 as late
    from escapement.attempt where claimed_at is not null and due_at is not null
  ) a;

create or replace view escapement.kinds as
  select name, queue, channel, max_attempts,
         (extract(epoch from lease) * 1000)::bigint as lease_millis,
         (extract(epoch from timeout) * 1000)::bigint as timeout_millis,
         (extract(epoch from backoff_base) * 1000)::bigint as backoff_base_millis,
         (extract(epoch from backoff_cap) * 1000)::bigint as backoff_cap_millis,
         backoff_jitter, exhaustion
  from escapement.kind;

create or replace view escapement.tenants as
  select tenant, weight from escapement.budget where tenant <> '';

grant select on escapement.settings, escapement.kinds
  to escapement_ingest, escapement_relay, escapement_dispatcher, escapement_operator,
     escapement_reader;
grant select on escapement.tenants to escapement_dispatcher, escapement_operator, escapement_reader;
grant select on escapement.backlog, escapement.budgets, escapement.in_flight,
    escapement.quarantine, escapement.task_counts, escapement.ledger_counts, escapement.lateness
  to escapement_operator, escapement_reader;
