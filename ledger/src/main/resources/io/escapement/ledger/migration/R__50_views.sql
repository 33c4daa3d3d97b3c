-- What operators and status read. Views run with their owner's rights, so a reader needs no table.

create or replace view escapement.settings as
  select id as ledger_id, (extract(epoch from replay_window) * 1000)::bigint as replay_window_millis,
         max_payload_bytes
  from escapement.ledger;

-- What has to be true of the server and the ledger before the parts can work.
create or replace view escapement.preconditions as
  select current_setting('server_version_num')::int as server_version,
         current_setting('wal_level') as wal_level,
         (select s.setting::bigint from pg_settings s where s.name = 'max_slot_wal_keep_size')
           as max_slot_wal_keep_mb,
         current_setting('max_replication_slots')::bigint as max_replication_slots,
         (select count(*) from pg_replication_slots) as replication_slots,
         current_setting('max_connections')::int as max_connections,
         current_setting('synchronous_commit') as synchronous_commit,
         current_setting('fsync') = 'on' and current_setting('full_page_writes') = 'on' as durable,
         getdatabaseencoding()::text as encoding,
         (select min(s.setting::bigint) from pg_settings s
          where s.name in ('idle_in_transaction_session_timeout', 'client_connection_check_interval'))
           as shortest_guard_millis,
         l.max_payload_bytes, l.default_tenant_tasks, l.default_tenant_bytes, l.max_tenants,
         g.max_tasks, g.max_bytes,
         (select count(*) from escapement.budget b where b.tenant <> '') as tenants,
         (select count(*) from escapement.budget b
          where b.tenant <> '' and (b.max_tasks > g.max_tasks or b.max_bytes > g.max_bytes))
           as tenants_above,
         clock_timestamp() as clock
  from escapement.ledger l cross join escapement.budget g
  where g.tenant = '';

-- Which migrations have made this schema, as the migrator wrote them down.
create or replace view escapement.migrations as
  select distinct on (script) script, checksum
  from escapement.flyway_schema_history
  where success and script like '%.sql'
  order by script, installed_rank desc;

create or replace view escapement.backlog as
  select queue, state, count(*) as tasks, count(*) filter (where due_at <= now()) as due,
         min(due_at) as oldest_due_at
  from escapement.task
  where state < 'DONE'
  group by queue, state;

-- What is overdue, by how long.
create or replace view escapement.backlog_by_age as
  select queue, count(*) as due,
         count(*) filter (where now() - due_at < interval '10 seconds') as under_10_seconds,
         count(*) filter (where now() - due_at >= interval '10 seconds'
                            and now() - due_at < interval '1 minute') as under_1_minute,
         count(*) filter (where now() - due_at >= interval '1 minute'
                            and now() - due_at < interval '10 minutes') as under_10_minutes,
         count(*) filter (where now() - due_at >= interval '10 minutes') as older
  from escapement.task
  where state in ('SCHEDULED', 'UNKNOWN') and due_at <= now()
  group by queue;

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

-- How far each partition's records are decided, and which partitions wait for room.
create or replace view escapement.ingest_positions as
  select topic, topic_id, partition, position, updated_at, held_since, held_for
  from escapement.ingest_position;

create or replace view escapement.in_flight as
  select id as task, queue, tenant, kind, channel, attempt, lease_owner, claimed_at, lease_until,
         cancel_requested
  from escapement.task where state = 'CLAIMED';

create or replace view escapement.quarantine as
  select t.id as task, t.queue, t.tenant, t.kind, t.channel, t.attempt, t.uncertain,
         a.outcome, a.detail, a.finished_at
  from escapement.task t
    left join lateral (select * from escapement.attempt a where a.task_id = t.id
                       order by a.number desc limit 1) a on true
  where t.state = 'QUARANTINED';

-- Parked: what only a person can settle, with resolve().
create or replace view escapement.needs_review as
  select t.id as task, i.namespace, i.event_id, t.queue, t.tenant, t.kind, t.channel, t.attempt,
         t.cancel_requested, t.first_sent_at, a.outcome, a.detail, a.message_id, a.finished_at
  from escapement.task t join escapement.intent i on i.id = t.intent_id
    left join lateral (select * from escapement.attempt a where a.task_id = t.id
                       order by a.number desc limit 1) a on true
  where t.state = 'UNKNOWN' and t.due_at is null;

-- What was done for each task and what came of it: one row a finished attempt.
create or replace view escapement.attempts as
  select t.id as task, i.namespace, i.event_id, t.tenant, t.kind, t.channel, a.number, a.action,
         a.worker, a.due_at, a.claimed_at, a.finished_at, a.outcome, a.detail, a.message_id,
         a.late_outcome, a.late_detail, a.late_at
  from escapement.attempt a join escapement.task t on t.id = a.task_id
    join escapement.intent i on i.id = t.intent_id;

-- A call was accepted, as its worker said after somebody else had taken over, and the task did not
-- end as done.
create or replace view escapement.contradicted as
  select t.id as task, i.namespace, i.event_id, t.tenant, t.kind, t.channel, t.state,
         a.number as attempt, a.outcome, a.late_outcome, a.late_detail, a.late_at, a.message_id
  from escapement.attempt a join escapement.task t on t.id = a.task_id
    join escapement.intent i on i.id = t.intent_id
  where a.late_outcome in ('ACCEPTED', 'ACCEPTED_REPLAY', 'QUERY_FOUND') and t.state <> 'DONE';

create or replace view escapement.paused as
  select scope, name, since, reason from escapement.pause;

create or replace view escapement.channels as
  select name, contract, (extract(epoch from timeout) * 1000)::bigint as timeout_millis,
         (extract(epoch from settle) * 1000)::bigint as settle_millis,
         (extract(epoch from key_retention) * 1000)::bigint as key_retention_millis
  from escapement.channel;

-- What operators have done. Whoever asked by a command is who the record says, which nobody has
-- checked; everybody else is the database user.
create or replace view escapement.actions as
  select id, at, coalesce(source || ' (unauthenticated)', session_role) as who, action, target,
         reason, result, session_role, source, event_id
  from escapement.operator_action;

-- How far the outbox's readers are behind the log.
create or replace view escapement.relay_lag as
  select slot_name as slot, active, wal_status,
         pg_wal_lsn_diff(pg_current_wal_insert_lsn(), confirmed_flush_lsn)::bigint as lag_bytes,
         pg_wal_lsn_diff(pg_current_wal_insert_lsn(), restart_lsn)::bigint as retained_bytes
  from pg_replication_slots where plugin = 'pgoutput' and database = current_database();

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
  select name, queue, channels, routing, max_attempts,
         (extract(epoch from lease) * 1000)::bigint as lease_millis,
         (extract(epoch from timeout) * 1000)::bigint as timeout_millis,
         (extract(epoch from backoff_base) * 1000)::bigint as backoff_base_millis,
         (extract(epoch from backoff_cap) * 1000)::bigint as backoff_cap_millis,
         backoff_jitter, exhaustion
  from escapement.kind;

create or replace view escapement.tenants as
  select tenant, weight from escapement.budget where tenant <> '';

grant select on escapement.settings, escapement.kinds, escapement.channels,
    escapement.preconditions, escapement.migrations
  to escapement_ingest, escapement_relay, escapement_dispatcher, escapement_operator,
     escapement_reader;
grant select on escapement.tenants to escapement_dispatcher, escapement_operator, escapement_reader;
grant select on escapement.backlog, escapement.budgets, escapement.ingest_positions,
    escapement.in_flight,
    escapement.attempts, escapement.backlog_by_age, escapement.quarantine, escapement.needs_review,
    escapement.contradicted, escapement.paused, escapement.actions, escapement.relay_lag, escapement.task_counts,
    escapement.ledger_counts, escapement.lateness
  to escapement_operator, escapement_reader;
