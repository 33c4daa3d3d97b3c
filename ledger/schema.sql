-- The ledger's schema as the migrations make it. Generated; to be read and compared, not run.
-- After a change of the schema:
--   mvn -pl escapement/embedded,ledger test -Dtest=SchemaDumpPostgresTest \
--     -Dsurefire.failIfNoSpecifiedTests=false -Dschema.write=true

schema escapement
grant usage to escapement_dispatcher
grant usage to escapement_ingest
grant usage to escapement_operator
grant usage to escapement_reader
grant usage to escapement_relay

type escapement.task_action as enum ('RUN', 'SEND', 'QUERY', 'NONE')

type escapement.task_state as enum ('SCHEDULED', 'UNKNOWN', 'CLAIMED', 'QUARANTINED', 'DONE', 'FAILED', 'CANCELLED', 'SUPPRESSED')

sequence escapement.operator_action_id_seq as bigint increment 1 minvalue 1 maxvalue 9223372036854775807 start 1 cache 1 owned by escapement.operator_action.id

sequence escapement.outbox_id_seq as bigint increment 1 minvalue 1 maxvalue 9223372036854775807 start 1 cache 1 owned by escapement.outbox.id

sequence escapement.release_slip_id_seq as bigint increment 1 minvalue 1 maxvalue 9223372036854775807 start 1 cache 1 owned by escapement.release_slip.id

sequence escapement.task_id as bigint increment 1 minvalue 1 maxvalue 9223372036854775807 start 1 cache 32

table escapement.attempt (
  task_id bigint not null,
  number integer not null,
  worker text,
  action escapement.task_action not null,
  due_at timestamp with time zone,
  claimed_at timestamp with time zone,
  finished_at timestamp with time zone not null,
  outcome text not null,
  detail text,
  message_id text,
  late_outcome text,
  late_detail text,
  late_at timestamp with time zone
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_vacuum_scale_factor=0.05)
constraint attempt_number_check CHECK ((number > 0))
constraint attempt_pkey PRIMARY KEY (task_id, number)
CREATE UNIQUE INDEX attempt_pkey ON escapement.attempt USING btree (task_id, number)

table escapement.budget (
  tenant text not null,
  max_tasks bigint not null,
  max_bytes bigint not null,
  used_tasks bigint not null default 0,
  used_bytes bigint not null default 0,
  weight integer not null default 1,
  drain_rate double precision not null default 0,
  drained_at timestamp with time zone not null default now()
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, fillfactor=50)
constraint budget_drain_rate_check CHECK ((drain_rate >= (0)::double precision))
constraint budget_max_bytes_check CHECK ((max_bytes >= 0))
constraint budget_max_tasks_check CHECK ((max_tasks >= 0))
constraint budget_pkey PRIMARY KEY (tenant)
constraint budget_tenant_check CHECK ((octet_length(tenant) <= 128))
constraint budget_used_bytes_check CHECK ((used_bytes >= 0))
constraint budget_used_tasks_check CHECK ((used_tasks >= 0))
constraint budget_weight_check CHECK (((weight >= 1) AND (weight <= 1000)))
CREATE UNIQUE INDEX budget_pkey ON escapement.budget USING btree (tenant)

table escapement.channel (
  name text not null,
  contract text not null,
  timeout interval,
  settle interval,
  key_retention interval
)
constraint channel_contract_check CHECK ((contract = ANY (ARRAY['TRANSACTIONAL'::text, 'IDEMPOTENT'::text, 'QUERYABLE'::text, 'OPAQUE'::text])))
constraint channel_key_retention_check CHECK (((key_retention >= '00:00:01'::interval) AND (key_retention <= '10 years'::interval)))
constraint channel_name_check CHECK (((octet_length(name) >= 1) AND (octet_length(name) <= 128)))
constraint channel_pkey PRIMARY KEY (name)
constraint channel_settle_check CHECK (((settle >= '00:00:00'::interval) AND (settle <= '7 days'::interval)))
constraint channel_timeout_check CHECK (((timeout >= '00:00:00.001'::interval) AND (timeout <= '01:00:00'::interval)))
constraint key_retention_only_idempotent CHECK (((contract = 'IDEMPOTENT'::text) OR (key_retention IS NULL)))
constraint settle_iff_queryable CHECK (((contract = 'QUERYABLE'::text) = (settle IS NOT NULL)))
constraint timeout_iff_external CHECK (((contract = 'TRANSACTIONAL'::text) = (timeout IS NULL)))
CREATE UNIQUE INDEX channel_pkey ON escapement.channel USING btree (name)

table escapement.effect (
  task_id bigint not null,
  attempt integer not null,
  bytes bytea not null,
  created_at timestamp with time zone not null default now()
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_vacuum_scale_factor=0.05)
constraint effect_pkey PRIMARY KEY (task_id)
CREATE UNIQUE INDEX effect_pkey ON escapement.effect USING btree (task_id)

table escapement.ingest_position (
  topic_id uuid not null,
  partition integer not null,
  topic text not null,
  "position" bigint not null,
  updated_at timestamp with time zone not null default now(),
  held_since timestamp with time zone,
  held_for text
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, fillfactor=50)
constraint held_whole CHECK (((held_since IS NULL) = (held_for IS NULL)))
constraint ingest_position_held_for_check CHECK ((held_for = ANY (ARRAY['global_full'::text, 'tenant_full'::text])))
constraint ingest_position_partition_check CHECK ((partition >= 0))
constraint ingest_position_pkey PRIMARY KEY (topic_id, partition)
constraint ingest_position_position_check CHECK (("position" >= 0))
CREATE UNIQUE INDEX ingest_position_pkey ON escapement.ingest_position USING btree (topic_id, partition)

table escapement.intent (
  id bigint not null,
  namespace text not null,
  event_id text not null,
  tenant text not null,
  kind text not null,
  subject text,
  slot smallint not null,
  first_task bigint not null,
  task_count integer not null,
  content_type text,
  value bytea not null,
  issued_at timestamp with time zone not null,
  last_issued_at timestamp with time zone not null,
  accepted_at timestamp with time zone not null default now()
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_vacuum_scale_factor=0.05)
constraint intent_event_id_check CHECK (((octet_length(event_id) >= 1) AND (octet_length(event_id) <= 512)))
constraint intent_namespace_check CHECK (((octet_length(namespace) >= 1) AND (octet_length(namespace) <= 1024)))
constraint intent_pkey PRIMARY KEY (id)
constraint intent_slot_check CHECK (((slot >= 0) AND (slot <= 255)))
constraint intent_subject_check CHECK (((octet_length(subject) >= 1) AND (octet_length(subject) <= 1024)))
constraint intent_task_count_check CHECK ((task_count >= 0))
constraint intent_tenant_check CHECK (((octet_length(tenant) >= 1) AND (octet_length(tenant) <= 128)))
CREATE UNIQUE INDEX intent_identity ON escapement.intent USING btree (namespace, event_id)
CREATE UNIQUE INDEX intent_pkey ON escapement.intent USING btree (id)

table escapement.kind (
  name text not null,
  queue text not null,
  max_attempts integer not null,
  lease interval not null,
  timeout interval not null,
  backoff_base interval not null,
  backoff_cap interval not null,
  backoff_jitter double precision not null,
  exhaustion text not null,
  routing text not null,
  channels text[] not null
)
constraint channels_fit_routing CHECK ((((cardinality(channels) >= 1) AND (cardinality(channels) <= 16)) AND (array_position(channels, NULL::text) IS NULL) AND ((routing = 'PREFERENCE'::text) OR (cardinality(channels) = 1))))
constraint kind_backoff_base_check CHECK (((backoff_base >= '00:00:00'::interval) AND (backoff_base <= '7 days'::interval)))
constraint kind_backoff_jitter_check CHECK (((backoff_jitter >= (0)::double precision) AND (backoff_jitter <= (1)::double precision)))
constraint kind_check CHECK (((timeout >= lease) AND (timeout <= '7 days'::interval)))
constraint kind_check1 CHECK (((backoff_cap >= backoff_base) AND (backoff_cap <= '7 days'::interval)))
constraint kind_exhaustion_check CHECK ((exhaustion = ANY (ARRAY['FAILED'::text, 'QUARANTINED'::text])))
constraint kind_lease_check CHECK (((lease >= '00:00:00.1'::interval) AND (lease <= '01:00:00'::interval)))
constraint kind_max_attempts_check CHECK (((max_attempts >= 1) AND (max_attempts <= 1000)))
constraint kind_name_check CHECK (((octet_length(name) >= 1) AND (octet_length(name) <= 255)))
constraint kind_pkey PRIMARY KEY (name)
constraint kind_queue_check CHECK ((queue ~ '^[a-z0-9][a-z0-9_-]{0,99}$'::text))
constraint kind_routing_check CHECK ((routing = ANY (ARRAY['FIXED'::text, 'PREFERENCE'::text])))
CREATE UNIQUE INDEX kind_pkey ON escapement.kind USING btree (name)

table escapement.ledger (
  one boolean not null default true,
  id uuid not null default gen_random_uuid(),
  replay_window interval not null default '7 days'::interval,
  max_payload_bytes integer not null default 262144,
  default_tenant_tasks bigint default 100000,
  default_tenant_bytes bigint default 1073741824,
  max_tenants integer not null default 10000
)
constraint ledger_default_tenant_bytes_check CHECK ((default_tenant_bytes >= 0))
constraint ledger_default_tenant_tasks_check CHECK ((default_tenant_tasks >= 0))
constraint ledger_max_payload_bytes_check CHECK (((max_payload_bytes >= 1) AND (max_payload_bytes <= 10485760)))
constraint ledger_max_tenants_check CHECK ((max_tenants > 0))
constraint ledger_one_check CHECK (one)
constraint ledger_pkey PRIMARY KEY (one)
constraint ledger_replay_window_check CHECK ((replay_window > '00:00:00'::interval))
CREATE UNIQUE INDEX ledger_pkey ON escapement.ledger USING btree (one)

table escapement.operator_action (
  id bigint not null generated always as identity,
  at timestamp with time zone not null default clock_timestamp(),
  session_role text not null default SESSION_USER,
  action text not null,
  target text not null,
  reason text,
  result text not null,
  source text,
  event_id text,
  event_digest bytea
)
constraint operator_action_pkey PRIMARY KEY (id)
CREATE INDEX operator_action_event ON escapement.operator_action USING btree (source, event_id) WHERE (event_id IS NOT NULL)
CREATE UNIQUE INDEX operator_action_pkey ON escapement.operator_action USING btree (id)

table escapement.outbox (
  id bigint not null generated always as identity,
  created_at timestamp with time zone not null default now(),
  events text storage e not null
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0.02)
constraint outbox_pkey PRIMARY KEY (id)
CREATE UNIQUE INDEX outbox_pkey ON escapement.outbox USING btree (id)
grant select to escapement_relay

table escapement.pause (
  scope text not null,
  name text not null,
  since timestamp with time zone not null default clock_timestamp(),
  reason text
)
constraint pause_name_check CHECK (((octet_length(name) >= 1) AND (octet_length(name) <= 255)))
constraint pause_pkey PRIMARY KEY (scope, name)
constraint pause_scope_check CHECK ((scope = ANY (ARRAY['queue'::text, 'kind'::text, 'channel'::text, 'tenant'::text])))
CREATE UNIQUE INDEX pause_pkey ON escapement.pause USING btree (scope, name)

table escapement.preference (
  tenant text not null,
  subject text not null,
  channel text not null,
  address text,
  enabled boolean not null,
  version bigint not null,
  updated_at timestamp with time zone not null default clock_timestamp()
)
constraint preference_address_check CHECK (((octet_length(address) >= 1) AND (octet_length(address) <= 2048)))
constraint preference_channel_fkey FOREIGN KEY (channel) REFERENCES escapement.channel(name)
constraint preference_pkey PRIMARY KEY (tenant, subject, channel)
constraint preference_subject_check CHECK (((octet_length(subject) >= 1) AND (octet_length(subject) <= 1024)))
constraint preference_tenant_check CHECK (((octet_length(tenant) >= 1) AND (octet_length(tenant) <= 128)))
constraint preference_version_check CHECK ((version > 0))
CREATE UNIQUE INDEX preference_pkey ON escapement.preference USING btree (tenant, subject, channel)

table escapement.release_slip (
  id bigint not null generated always as identity,
  tenant text not null,
  tasks bigint not null,
  bytes bigint not null
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000)
constraint release_slip_pkey PRIMARY KEY (id)
CREATE UNIQUE INDEX release_slip_pkey ON escapement.release_slip USING btree (id)

table escapement.retention (
  one boolean not null default true,
  next_intent bigint not null default 0
)
constraint retention_one_check CHECK (one)
constraint retention_pkey PRIMARY KEY (one)
CREATE UNIQUE INDEX retention_pkey ON escapement.retention USING btree (one)

table escapement.rule (
  key integer not null,
  contract text not null,
  observation text not null,
  uncertain boolean not null,
  tries_left boolean not null,
  cancel_requested boolean not null,
  exhaustion text not null,
  next_state escapement.task_state not null,
  next_uncertain boolean not null,
  next_due text not null,
  returns_try boolean not null,
  fresh_tries boolean not null,
  writes_effect boolean not null
)
constraint rule_check CHECK (((next_state = ANY (ARRAY['SCHEDULED'::escapement.task_state, 'UNKNOWN'::escapement.task_state])) OR (next_due = 'NEVER'::text)))
constraint rule_check1 CHECK (((next_state <> 'SCHEDULED'::escapement.task_state) OR (next_due <> 'NEVER'::text)))
constraint rule_check2 CHECK ((next_uncertain = (next_state = 'UNKNOWN'::escapement.task_state)))
constraint rule_contract_observation_uncertain_tries_left_cancel_reque_key UNIQUE (contract, observation, uncertain, tries_left, cancel_requested, exhaustion)
constraint rule_next_due_check CHECK ((next_due = ANY (ARRAY['NEVER'::text, 'NOW'::text, 'BACKOFF'::text, 'SETTLE'::text])))
constraint rule_pkey PRIMARY KEY (key)
CREATE UNIQUE INDEX rule_contract_observation_uncertain_tries_left_cancel_reque_key ON escapement.rule USING btree (contract, observation, uncertain, tries_left, cancel_requested, exhaustion)
CREATE UNIQUE INDEX rule_pkey ON escapement.rule USING btree (key)

table escapement.task (
  id bigint not null,
  intent_id bigint not null,
  tenant text not null,
  kind text not null,
  channel text not null,
  queue text not null,
  slot smallint not null,
  bytes integer not null,
  state escapement.task_state not null,
  due_at timestamp with time zone,
  attempt integer not null default 0,
  tries_left integer not null,
  action escapement.task_action,
  claimed_at timestamp with time zone,
  lease_owner text,
  lease_until timestamp with time zone,
  uncertain boolean not null default false,
  first_sent_at timestamp with time zone,
  cancel_requested boolean not null default false,
  expires_at timestamp with time zone,
  max_attempts integer
) with (autovacuum_analyze_scale_factor=0.02, autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0.02)
constraint claimed_iff_lease CHECK ((((state = 'CLAIMED'::escapement.task_state) = (lease_until IS NOT NULL)) AND ((state = 'CLAIMED'::escapement.task_state) = (lease_owner IS NOT NULL)) AND ((state = 'CLAIMED'::escapement.task_state) = (claimed_at IS NOT NULL)) AND ((state = 'CLAIMED'::escapement.task_state) = (action IS NOT NULL))))
constraint ended_has_no_due CHECK (((state < 'QUARANTINED'::escapement.task_state) OR (due_at IS NULL)))
constraint first_sent_iff_at_large CHECK (((first_sent_at IS NOT NULL) = (uncertain OR COALESCE((action = 'SEND'::escapement.task_action), false))))
constraint task_attempt_check CHECK ((attempt >= 0))
constraint task_bytes_check CHECK ((bytes >= 0))
constraint task_max_attempts_check CHECK (((max_attempts >= 1) AND (max_attempts <= 1000)))
constraint task_pkey PRIMARY KEY (id)
constraint task_tries_left_check CHECK ((tries_left >= 0))
constraint waiting_has_due_and_tries CHECK (
CASE state
    WHEN 'SCHEDULED'::escapement.task_state THEN ((NOT uncertain) AND (due_at IS NOT NULL) AND (tries_left > 0))
    WHEN 'UNKNOWN'::escapement.task_state THEN (uncertain AND ((due_at IS NULL) OR (tries_left > 0)))
    WHEN 'CLAIMED'::escapement.task_state THEN true
    WHEN 'QUARANTINED'::escapement.task_state THEN true
    ELSE (NOT uncertain)
END)
CREATE INDEX task_claimed ON escapement.task USING btree (queue, slot, lease_until) WHERE (state = 'CLAIMED'::escapement.task_state)
CREATE INDEX task_expiring_waiting ON escapement.task USING btree (queue, slot, expires_at) WHERE ((state = ANY (ARRAY['SCHEDULED'::escapement.task_state, 'UNKNOWN'::escapement.task_state])) AND (due_at IS NOT NULL) AND (expires_at IS NOT NULL))
CREATE INDEX task_lane ON escapement.task USING btree (queue, tenant, kind, channel, due_at, slot) WHERE ((state = ANY (ARRAY['SCHEDULED'::escapement.task_state, 'UNKNOWN'::escapement.task_state])) AND (due_at IS NOT NULL))
CREATE INDEX task_parked ON escapement.task USING btree (kind, channel, id) WHERE ((state = 'UNKNOWN'::escapement.task_state) AND (due_at IS NULL))
CREATE INDEX task_quarantined ON escapement.task USING btree (kind, channel, id) WHERE (state = 'QUARANTINED'::escapement.task_state)
CREATE INDEX task_waiting ON escapement.task USING btree (queue, slot, due_at) WHERE (state = ANY (ARRAY['SCHEDULED'::escapement.task_state, 'UNKNOWN'::escapement.task_state]))
CREATE UNIQUE INDEX task_pkey ON escapement.task USING btree (id)

view escapement.actions (
  id bigint,
  at timestamp with time zone,
  who text,
  action text,
  target text,
  reason text,
  result text,
  session_role text,
  source text,
  event_id text
) as
 SELECT id,
    at,
    COALESCE((source || ' (unauthenticated)'::text), session_role) AS who,
    action,
    target,
    reason,
    result,
    session_role,
    source,
    event_id
   FROM operator_action;
grant select to escapement_operator
grant select to escapement_reader

view escapement.attempts (
  task bigint,
  namespace text,
  event_id text,
  tenant text,
  kind text,
  channel text,
  number integer,
  action escapement.task_action,
  worker text,
  due_at timestamp with time zone,
  claimed_at timestamp with time zone,
  finished_at timestamp with time zone,
  outcome text,
  detail text,
  message_id text,
  late_outcome text,
  late_detail text,
  late_at timestamp with time zone
) as
 SELECT id AS task,
    namespace,
    event_id,
    tenant,
    kind,
    channel,
    number,
    action,
    worker,
    due_at,
    claimed_at,
    finished_at,
    outcome,
    detail,
    message_id,
    late_outcome,
    late_detail,
    late_at
   FROM ((attempt a
     JOIN task t ON ((id = task_id)))
     JOIN intent i ON ((id = intent_id)));
grant select to escapement_operator
grant select to escapement_reader

view escapement.backlog (
  queue text,
  state escapement.task_state,
  tasks bigint,
  due bigint,
  oldest_due_at timestamp with time zone
) as
 SELECT queue,
    state,
    count(*) AS tasks,
    count(*) FILTER (WHERE (due_at <= now())) AS due,
    min(due_at) AS oldest_due_at
   FROM task
  WHERE (state < 'DONE'::task_state)
  GROUP BY queue, state;
grant select to escapement_operator
grant select to escapement_reader

view escapement.backlog_by_age (
  queue text,
  due bigint,
  under_10_seconds bigint,
  under_1_minute bigint,
  under_10_minutes bigint,
  older bigint
) as
 SELECT queue,
    count(*) AS due,
    count(*) FILTER (WHERE ((now() - due_at) < '00:00:10'::interval)) AS under_10_seconds,
    count(*) FILTER (WHERE (((now() - due_at) >= '00:00:10'::interval) AND ((now() - due_at) < '00:01:00'::interval))) AS under_1_minute,
    count(*) FILTER (WHERE (((now() - due_at) >= '00:01:00'::interval) AND ((now() - due_at) < '00:10:00'::interval))) AS under_10_minutes,
    count(*) FILTER (WHERE ((now() - due_at) >= '00:10:00'::interval)) AS older
   FROM task
  WHERE ((state = ANY (ARRAY['SCHEDULED'::task_state, 'UNKNOWN'::task_state])) AND (due_at <= now()))
  GROUP BY queue;
grant select to escapement_operator
grant select to escapement_reader

view escapement.budgets (
  tenant text,
  used_tasks numeric,
  max_tasks bigint,
  used_bytes numeric,
  max_bytes bigint,
  weight integer
) as
 SELECT NULLIF(tenant, ''::text) AS tenant,
    ((used_tasks)::numeric - COALESCE(tasks, (0)::numeric)) AS used_tasks,
    max_tasks,
    ((used_bytes)::numeric - COALESCE(bytes, (0)::numeric)) AS used_bytes,
    max_bytes,
    weight
   FROM (budget b
     LEFT JOIN ( SELECT tenant,
            sum(tasks) AS tasks,
            sum(bytes) AS bytes
           FROM release_slip
          GROUP BY tenant
        UNION ALL
         SELECT ''::text,
            sum(tasks) AS sum,
            sum(bytes) AS sum
           FROM release_slip
         HAVING (count(*) > 0)) s ON ((tenant = tenant)));
grant select to escapement_operator
grant select to escapement_reader

view escapement.channels (
  name text,
  contract text,
  timeout_millis bigint,
  settle_millis bigint,
  key_retention_millis bigint
) as
 SELECT name,
    contract,
    ((EXTRACT(epoch FROM timeout) * (1000)::numeric))::bigint AS timeout_millis,
    ((EXTRACT(epoch FROM settle) * (1000)::numeric))::bigint AS settle_millis,
    ((EXTRACT(epoch FROM key_retention) * (1000)::numeric))::bigint AS key_retention_millis
   FROM channel;
grant select to escapement_dispatcher
grant select to escapement_ingest
grant select to escapement_operator
grant select to escapement_reader
grant select to escapement_relay

view escapement.contradicted (
  task bigint,
  namespace text,
  event_id text,
  tenant text,
  kind text,
  channel text,
  state escapement.task_state,
  attempt integer,
  outcome text,
  late_outcome text,
  late_detail text,
  late_at timestamp with time zone,
  message_id text
) as
 SELECT id AS task,
    namespace,
    event_id,
    tenant,
    kind,
    channel,
    state,
    number AS attempt,
    outcome,
    late_outcome,
    late_detail,
    late_at,
    message_id
   FROM ((attempt a
     JOIN task t ON ((id = task_id)))
     JOIN intent i ON ((id = intent_id)))
  WHERE ((late_outcome = ANY (ARRAY['ACCEPTED'::text, 'ACCEPTED_REPLAY'::text, 'QUERY_FOUND'::text])) AND (state <> 'DONE'::task_state));
grant select to escapement_operator
grant select to escapement_reader

view escapement.in_flight (
  task bigint,
  queue text,
  tenant text,
  kind text,
  channel text,
  attempt integer,
  lease_owner text,
  claimed_at timestamp with time zone,
  lease_until timestamp with time zone,
  cancel_requested boolean
) as
 SELECT id AS task,
    queue,
    tenant,
    kind,
    channel,
    attempt,
    lease_owner,
    claimed_at,
    lease_until,
    cancel_requested
   FROM task
  WHERE (state = 'CLAIMED'::task_state);
grant select to escapement_operator
grant select to escapement_reader

view escapement.ingest_positions (
  topic text,
  topic_id uuid,
  partition integer,
  "position" bigint,
  updated_at timestamp with time zone,
  held_since timestamp with time zone,
  held_for text
) as
 SELECT topic,
    topic_id,
    partition,
    "position",
    updated_at,
    held_since,
    held_for
   FROM ingest_position;
grant select to escapement_operator
grant select to escapement_reader

view escapement.kinds (
  name text,
  queue text,
  channels text[],
  routing text,
  max_attempts integer,
  lease_millis bigint,
  timeout_millis bigint,
  backoff_base_millis bigint,
  backoff_cap_millis bigint,
  backoff_jitter double precision,
  exhaustion text
) as
 SELECT name,
    queue,
    channels,
    routing,
    max_attempts,
    ((EXTRACT(epoch FROM lease) * (1000)::numeric))::bigint AS lease_millis,
    ((EXTRACT(epoch FROM timeout) * (1000)::numeric))::bigint AS timeout_millis,
    ((EXTRACT(epoch FROM backoff_base) * (1000)::numeric))::bigint AS backoff_base_millis,
    ((EXTRACT(epoch FROM backoff_cap) * (1000)::numeric))::bigint AS backoff_cap_millis,
    backoff_jitter,
    exhaustion
   FROM kind;
grant select to escapement_dispatcher
grant select to escapement_ingest
grant select to escapement_operator
grant select to escapement_reader
grant select to escapement_relay

view escapement.lateness (
  claims bigint,
  p50_ms double precision,
  p99_ms double precision,
  max_ms double precision
) as
 SELECT count(*) AS claims,
    percentile_cont((0.5)::double precision) WITHIN GROUP (ORDER BY late) AS p50_ms,
    percentile_cont((0.99)::double precision) WITHIN GROUP (ORDER BY late) AS p99_ms,
    max(late) AS max_ms
   FROM ( SELECT ((EXTRACT(epoch FROM (claimed_at - due_at)))::double precision * (1000)::double precision) AS late
           FROM attempt
          WHERE ((claimed_at IS NOT NULL) AND (due_at IS NOT NULL))) a;
grant select to escapement_operator
grant select to escapement_reader

view escapement.ledger_counts (
  intents bigint,
  effects bigint,
  outbox_rows bigint
) as
 SELECT ( SELECT count(*) AS count
           FROM intent) AS intents,
    ( SELECT count(*) AS count
           FROM effect) AS effects,
    ( SELECT count(*) AS count
           FROM outbox) AS outbox_rows;
grant select to escapement_operator
grant select to escapement_reader

view escapement.migrations (
  script character varying(1000),
  checksum integer
) as
 SELECT DISTINCT ON (script) script,
    checksum
   FROM flyway_schema_history
  WHERE (success AND ((script)::text ~~ '%.sql'::text))
  ORDER BY script, installed_rank DESC;
grant select to escapement_dispatcher
grant select to escapement_ingest
grant select to escapement_operator
grant select to escapement_reader
grant select to escapement_relay

view escapement.needs_review (
  task bigint,
  namespace text,
  event_id text,
  queue text,
  tenant text,
  kind text,
  channel text,
  attempt integer,
  cancel_requested boolean,
  first_sent_at timestamp with time zone,
  outcome text,
  detail text,
  message_id text,
  finished_at timestamp with time zone
) as
 SELECT id AS task,
    namespace,
    event_id,
    queue,
    tenant,
    kind,
    channel,
    attempt,
    cancel_requested,
    first_sent_at,
    outcome,
    detail,
    message_id,
    finished_at
   FROM ((task t
     JOIN intent i ON ((id = intent_id)))
     LEFT JOIN LATERAL ( SELECT task_id,
            number,
            worker,
            action,
            due_at,
            claimed_at,
            finished_at,
            outcome,
            detail,
            message_id,
            late_outcome,
            late_detail,
            late_at
           FROM attempt a_1
          WHERE (task_id = id)
          ORDER BY number DESC
         LIMIT 1) a ON (true))
  WHERE ((state = 'UNKNOWN'::task_state) AND (due_at IS NULL));
grant select to escapement_operator
grant select to escapement_reader

view escapement.paused (
  scope text,
  name text,
  since timestamp with time zone,
  reason text
) as
 SELECT scope,
    name,
    since,
    reason
   FROM pause;
grant select to escapement_operator
grant select to escapement_reader

view escapement.preconditions (
  server_version integer,
  wal_level text,
  max_slot_wal_keep_mb bigint,
  max_replication_slots bigint,
  replication_slots bigint,
  max_connections integer,
  synchronous_commit text,
  durable boolean,
  encoding text,
  shortest_guard_millis bigint,
  max_payload_bytes integer,
  default_tenant_tasks bigint,
  default_tenant_bytes bigint,
  max_tenants integer,
  max_tasks bigint,
  max_bytes bigint,
  tenants bigint,
  tenants_above bigint,
  clock timestamp with time zone
) as
 SELECT (current_setting('server_version_num'::text))::integer AS server_version,
    current_setting('wal_level'::text) AS wal_level,
    ( SELECT (setting)::bigint AS setting
           FROM pg_settings s
          WHERE (name = 'max_slot_wal_keep_size'::text)) AS max_slot_wal_keep_mb,
    (current_setting('max_replication_slots'::text))::bigint AS max_replication_slots,
    ( SELECT count(*) AS count
           FROM pg_replication_slots) AS replication_slots,
    (current_setting('max_connections'::text))::integer AS max_connections,
    current_setting('synchronous_commit'::text) AS synchronous_commit,
    ((current_setting('fsync'::text) = 'on'::text) AND (current_setting('full_page_writes'::text) = 'on'::text)) AS durable,
    (getdatabaseencoding())::text AS encoding,
    ( SELECT min((setting)::bigint) AS min
           FROM pg_settings s
          WHERE (name = ANY (ARRAY['idle_in_transaction_session_timeout'::text, 'client_connection_check_interval'::text]))) AS shortest_guard_millis,
    max_payload_bytes,
    default_tenant_tasks,
    default_tenant_bytes,
    max_tenants,
    max_tasks,
    max_bytes,
    ( SELECT count(*) AS count
           FROM budget b
          WHERE (tenant <> ''::text)) AS tenants,
    ( SELECT count(*) AS count
           FROM budget b
          WHERE ((tenant <> ''::text) AND ((max_tasks > max_tasks) OR (max_bytes > max_bytes)))) AS tenants_above,
    clock_timestamp() AS clock
   FROM (ledger l
     CROSS JOIN budget g)
  WHERE (tenant = ''::text);
grant select to escapement_dispatcher
grant select to escapement_ingest
grant select to escapement_operator
grant select to escapement_reader
grant select to escapement_relay

view escapement.quarantine (
  task bigint,
  queue text,
  tenant text,
  kind text,
  channel text,
  attempt integer,
  uncertain boolean,
  outcome text,
  detail text,
  finished_at timestamp with time zone
) as
 SELECT id AS task,
    queue,
    tenant,
    kind,
    channel,
    attempt,
    uncertain,
    outcome,
    detail,
    finished_at
   FROM (task t
     LEFT JOIN LATERAL ( SELECT task_id,
            number,
            worker,
            action,
            due_at,
            claimed_at,
            finished_at,
            outcome,
            detail,
            message_id,
            late_outcome,
            late_detail,
            late_at
           FROM attempt a_1
          WHERE (task_id = id)
          ORDER BY number DESC
         LIMIT 1) a ON (true))
  WHERE (state = 'QUARANTINED'::task_state);
grant select to escapement_operator
grant select to escapement_reader

view escapement.relay_lag (
  slot name,
  active boolean,
  wal_status text,
  lag_bytes bigint,
  retained_bytes bigint
) as
 SELECT slot_name AS slot,
    active,
    wal_status,
    (pg_wal_lsn_diff(pg_current_wal_insert_lsn(), confirmed_flush_lsn))::bigint AS lag_bytes,
    (pg_wal_lsn_diff(pg_current_wal_insert_lsn(), restart_lsn))::bigint AS retained_bytes
   FROM pg_replication_slots
  WHERE ((plugin = 'pgoutput'::name) AND (database = current_database()));
grant select to escapement_operator
grant select to escapement_reader

view escapement.settings (
  ledger_id uuid,
  replay_window_millis bigint,
  max_payload_bytes integer
) as
 SELECT id AS ledger_id,
    ((EXTRACT(epoch FROM replay_window) * (1000)::numeric))::bigint AS replay_window_millis,
    max_payload_bytes
   FROM ledger;
grant select to escapement_dispatcher
grant select to escapement_ingest
grant select to escapement_operator
grant select to escapement_reader
grant select to escapement_relay

view escapement.task_counts (
  state escapement.task_state,
  tasks bigint
) as
 SELECT state,
    count(*) AS tasks
   FROM task
  GROUP BY state;
grant select to escapement_operator
grant select to escapement_reader

view escapement.tenants (
  tenant text,
  weight integer
) as
 SELECT tenant,
    weight
   FROM budget
  WHERE (tenant <> ''::text);
grant select to escapement_dispatcher
grant select to escapement_operator
grant select to escapement_reader

function escapement.admit(p_topics text[], p_topic_ids uuid[], p_partitions integer[], p_expected bigint[], p_next bigint[], p_position integer[], p_offset bigint[], p_refused text[], p_reason text[], p_namespace text[], p_event_id text[], p_tenant text[], p_kind text[], p_subject text[], p_issued bigint[], p_due bigint[], p_expires bigint[], p_max_attempts integer[], p_content_type text[], p_value bytea[], p_envelope bytea[], p_hold text[] DEFAULT NULL::text[], p_optimistic boolean DEFAULT false)
  returns TABLE(decision text, reason text)
  language plpgsql, volatile, parallel unsafe, security definer
  set enable_hashjoin=off
  set enable_mergejoin=off
  set enable_seqscan=off
  set search_path=escapement, pg_temp
  body dc28c5270c3758bf0a8f94bcacca6752
grant execute to escapement_ingest

function escapement.advance_positions(p_topics text[], p_topic_ids uuid[], p_partitions integer[], p_expected bigint[], p_next bigint[])
  returns integer[]
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body 82bc2dc0272639be82a8eb53d53e0cbb

function escapement.ask_from(p_task bigint, p_channel text)
  returns timestamp with time zone
  language sql, stable, parallel unsafe
  set search_path=escapement, pg_temp
  body c0b3b1513569055c07746165cba3ede1

function escapement.audit()
  returns TABLE(invariant text, detail text)
  language sql, stable, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body 27d55b393c75520b62ed1c51d3ac7692
grant execute to escapement_operator
grant execute to escapement_reader

function escapement.cancel(p_namespace text, p_event_id text, p_reason text DEFAULT NULL::text, p_unstarted_only boolean DEFAULT false)
  returns TABLE(task_id bigint, result text)
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body 2cb57d4e4df8e811afa70a15e89c1add
grant execute to escapement_operator

function escapement.claim(p_owner text, p_kinds text[], p_tasks bigint[], p_channels text[] DEFAULT NULL::text[])
  returns TABLE(task_id bigint, answer text, state escapement.task_state, attempt integer, tenant text, kind text, channel text, slot integer, action escapement.task_action, uncertain boolean, address text, lease_micros bigint, timeout_micros bigint, due_at timestamp with time zone, claimed_at timestamp with time zone, tries_left integer, idempotency_key text, namespace text, event_id text, subject text, content_type text, value bytea)
  language plpgsql, volatile, parallel unsafe, security definer
  set enable_hashjoin=off
  set enable_mergejoin=off
  set enable_seqscan=off
  set search_path=escapement, pg_temp
  body 045b091959d1826548fb735d2ef66783
grant execute to escapement_dispatcher

function escapement.claim_due(p_owner text, p_queue text, p_slots integer[], p_kinds text[], p_limit integer, p_channels text[] DEFAULT NULL::text[])
  returns TABLE(task_id bigint, answer text, state escapement.task_state, attempt integer, tenant text, kind text, channel text, slot integer, action escapement.task_action, uncertain boolean, address text, lease_micros bigint, timeout_micros bigint, due_at timestamp with time zone, claimed_at timestamp with time zone, tries_left integer, idempotency_key text, namespace text, event_id text, subject text, content_type text, value bytea)
  language plpgsql, volatile, parallel unsafe, security definer
  set enable_bitmapscan=off
  set enable_seqscan=off
  set search_path=escapement, pg_temp
  body 1f334c77b9fd19b62c956f09d85c342c
grant execute to escapement_dispatcher

function escapement.claimed_by(p_owner text)
  returns TABLE(task_id bigint, attempt integer, tenant text, kind text, channel text, slot integer, action escapement.task_action, uncertain boolean, address text, lease_micros bigint, timeout_micros bigint, due_at timestamp with time zone, claimed_at timestamp with time zone, tries_left integer, idempotency_key text, namespace text, event_id text, subject text, content_type text, value bytea)
  language sql, stable, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body b28f678642b5551d008e519a73a6a3e8
grant execute to escapement_dispatcher

function escapement.clock()
  returns timestamp with time zone
  language sql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body 25ded664537f61dc4722eb3ca2aa537f
grant execute to escapement_dispatcher
grant execute to escapement_ingest
grant execute to escapement_operator
grant execute to escapement_reader
grant execute to escapement_relay

function escapement.command(p_topic text, p_topic_id uuid, p_partition integer, p_expected bigint, p_next bigint, p_offset bigint, p_refused text, p_reason text, p_source text, p_event_id text, p_type text, p_data text, p_value bytea, p_envelope bytea)
  returns TABLE(decision text, reason text, targets text[], results text[])
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body f925dac67e4c16724e8f4a8f1d56e0ff
grant execute to escapement_operator

function escapement.command_arguments(p_type text, p_data text)
  returns jsonb
  language plpgsql, stable, parallel unsafe, security definer
  set IntervalStyle=postgres
  set search_path=escapement, pg_temp
  body 680b52320409e23cc52ffc3c3382f49c

function escapement.command_parameters(p_type text)
  returns TABLE(name text, shape text, need text)
  language sql, immutable, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body 1c94e3788824bf76759cb2c63b4eb544

function escapement.cut(value text, bytes integer)
  returns text
  language sql, immutable, parallel safe
  RETURN CASE WHEN (octet_length(value) <= bytes) THEN value ELSE ("left"(value, (bytes / 4)) || ' […]'::text) END

function escapement.decayed(p_rate double precision, p_at timestamp with time zone)
  returns double precision
  language sql, stable, parallel unsafe
  RETURN (p_rate * exp(((- LEAST((EXTRACT(epoch FROM GREATEST((now() - p_at), '00:00:00'::interval)))::double precision, (600)::double precision)) / (10)::double precision)))

function escapement.define_channel(p_name text, p_contract text, p_timeout interval DEFAULT NULL::interval, p_settle interval DEFAULT NULL::interval, p_key_retention interval DEFAULT NULL::interval, p_reason text DEFAULT NULL::text)
  returns void
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body 04c6a0c3142ebf7bf919b342276077fb
grant execute to escapement_operator

function escapement.define_kind(p_name text, p_queue text DEFAULT 'default'::text, p_channels text[] DEFAULT '{local}'::text[], p_routing text DEFAULT 'FIXED'::text, p_max_attempts integer DEFAULT 5, p_lease interval DEFAULT '00:00:30'::interval, p_timeout interval DEFAULT '00:10:00'::interval, p_backoff_base interval DEFAULT '00:00:01'::interval, p_backoff_cap interval DEFAULT '00:05:00'::interval, p_backoff_jitter double precision DEFAULT 0.2, p_exhaustion text DEFAULT 'FAILED'::text, p_reason text DEFAULT NULL::text)
  returns void
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body e88ac756de27a6334294ecf75176474b
grant execute to escapement_operator

function escapement.fence(p_task bigint, p_attempt integer)
  returns text
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body 04cd3d442ac6f0e624ec9397a74bd316
grant execute to escapement_dispatcher

function escapement.field(value text)
  returns text
  language sql, immutable, parallel safe
  RETURN CASE WHEN (value IS NULL) THEN '\N'::text WHEN (value ~ '[\\\t\n\r]'::text) THEN replace(replace(replace(replace(value, '\'::text, '\\'::text), chr(9), '\t'::text), chr(10), '\n'::text), chr(13), '\r'::text) ELSE value END

function escapement.fits_action(action escapement.task_action, seen text)
  returns boolean
  language sql, immutable, parallel safe
  RETURN ((seen IS NOT NULL) AND CASE action WHEN 'RUN'::escapement.task_action THEN (seen = ANY (ARRAY['COMPLETED'::text, 'FAILED'::text, 'POISONED'::text, 'RELEASED'::text])) WHEN 'SEND'::escapement.task_action THEN (seen = ANY (ARRAY['ACCEPTED'::text, 'ACCEPTED_REPLAY'::text, 'REFUSED'::text, 'REJECTED'::text, 'TIMEOUT'::text, 'IO_ERROR'::text, 'UNCLEAR'::text, 'RELEASED'::text])) WHEN 'QUERY'::escapement.task_action THEN (seen = ANY (ARRAY['QUERY_FOUND'::text, 'QUERY_NOT_FOUND'::text, 'QUERY_FAILED'::text, 'RELEASED'::text])) ELSE false END)

function escapement.fold()
  returns boolean
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body a079ae58cc6577589c38223e9dbe0462
grant execute to escapement_dispatcher
grant execute to escapement_operator

function escapement.fold_locked()
  returns void
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body ee0046d449bf2f880e3dcc5d99630118

function escapement.forget(p_limit integer)
  returns TABLE(intents bigint, tasks bigint, at_end boolean)
  language plpgsql, volatile, parallel unsafe, security definer
  set enable_hashjoin=off
  set enable_mergejoin=off
  set enable_seqscan=off
  set search_path=escapement, pg_temp
  body e7db0381f1cbf064f20791820016b191
grant execute to escapement_dispatcher

function escapement.hint_line(p_task escapement.task)
  returns text
  language sql, stable, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body 92390cc9db296b09f47cd2ee2a0b33cb

function escapement.hold_positions(p_topic_ids uuid[], p_partitions integer[], p_at bigint[], p_for text[])
  returns void
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body d07bcc4b6deadfe0a5bea0f477a267eb

function escapement.horizon(p_queue text, p_slots integer[], p_kinds text[], p_until timestamp with time zone, p_per_slot integer, p_channels text[] DEFAULT NULL::text[], p_by_lane boolean DEFAULT false, p_without text[] DEFAULT '{}'::text[])
  returns TABLE(task_id bigint, tenant text, slot integer, wake_at timestamp with time zone, claimed boolean, truncated boolean)
  language plpgsql, stable, parallel unsafe, security definer
  set enable_bitmapscan=off
  set enable_seqscan=off
  set search_path=escapement, pg_temp
  body b273104e3644b92bd8150e79829d92ae
grant execute to escapement_dispatcher

function escapement.is_choosy(p_queue text, p_kinds text[], p_channels text[], p_without text[] DEFAULT '{}'::text[])
  returns boolean
  language sql, stable, parallel unsafe
  set enable_seqscan=on
  set search_path=escapement, pg_temp
  body 4883e0bca7591427df3d6a7ad36c3909

function escapement.lanes_of(p_tasks bigint[])
  returns TABLE(task_id bigint, kind text, channel text)
  language sql, stable, parallel unsafe, security definer
  set enable_hashjoin=off
  set enable_mergejoin=off
  set enable_seqscan=off
  set search_path=escapement, pg_temp
  body 1d27157f730aeaa9a29c56f0d9deb5b8
grant execute to escapement_dispatcher

function escapement.leased(p_owner text, p_tasks bigint[])
  returns TABLE(task_id bigint, attempt integer, tenant text, kind text, channel text, slot integer, action escapement.task_action, uncertain boolean, address text, lease_micros bigint, timeout_micros bigint, due_at timestamp with time zone, claimed_at timestamp with time zone, tries_left integer, idempotency_key text, namespace text, event_id text, subject text, content_type text, value bytea)
  language sql, stable, parallel unsafe, security definer
  set enable_hashjoin=off
  set enable_mergejoin=off
  set enable_seqscan=off
  set search_path=escapement, pg_temp
  body 45c780da87042588b71c1df8e1ba22a1

function escapement.local_channels()
  returns text[]
  language sql, stable, parallel unsafe
  set enable_seqscan=on
  set search_path=escapement, pg_temp
  body bcaaa8f27bd9f2b300f7522ad57f914b

function escapement.log_snapshot()
  returns boolean
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body d521102bd9776120f13f4e38f4570905
grant execute to escapement_relay

function escapement.move_position(p_topic_id uuid, p_partition integer, p_expected bigint, p_position bigint, p_reason text DEFAULT NULL::text)
  returns text
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body 8254a00912d5b7a6d38792878d525b57
grant execute to escapement_operator

function escapement.observe(p_tasks bigint[], p_attempts integer[], p_seen text[], p_details text[] DEFAULT NULL::text[], p_effects bytea[] DEFAULT NULL::bytea[], p_message_ids text[] DEFAULT NULL::text[], p_retry_after_micros bigint[] DEFAULT NULL::bigint[])
  returns TABLE(answer text, state escapement.task_state, due_at timestamp with time zone, outcome text)
  language plpgsql, volatile, parallel unsafe, security definer
  set enable_hashjoin=off
  set enable_mergejoin=off
  set enable_seqscan=off
  set search_path=escapement, pg_temp
  body 79409df2c860439158d967aac1f09e06
grant execute to escapement_dispatcher

function escapement.open_lanes(p_queue text, p_kinds text[], p_channels text[], p_without text[] DEFAULT '{}'::text[])
  returns TABLE(tenant text, kind text, channel text)
  language plpgsql, stable, parallel unsafe
  set enable_bitmapscan=off
  set enable_seqscan=off
  set enable_sort=off
  set search_path=escapement, pg_temp
  body 1d5d80a9440ea60c659ccef33cae4553

function escapement.outcome(p_task bigint, p_attempt integer)
  returns text
  language sql, stable, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body 79f9601612d2301c26e2796d1fae24a4
grant execute to escapement_dispatcher
grant execute to escapement_operator

function escapement.outcome_line(change text, task bigint, namespace text, event_id text, tenant text, kind text, channel text, attempt integer, observation text, detail text, cancelled_too_late boolean)
  returns text
  language sql, stable, parallel safe
  RETURN concat_ws(chr(9), 'O', change, task, escapement.field(namespace), escapement.field(event_id), escapement.field(tenant), escapement.field(kind), escapement.field(channel), attempt, escapement.field(observation), escapement.field(detail), cancelled_too_late)

function escapement.pause(p_scope text, p_name text, p_reason text DEFAULT NULL::text)
  returns text
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body 10b74dfc536d63f762442c5d33263b28
grant execute to escapement_operator

function escapement.positions(p_topic_ids uuid[], p_partitions integer[])
  returns TABLE(topic_id uuid, partition integer, "position" bigint)
  language sql, stable, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body 58426dfecd2a3c1e33948567d0678011
grant execute to escapement_ingest
grant execute to escapement_operator

function escapement.prunable_outbox(p_grace interval, p_limit integer)
  returns TABLE(ids bigint[], written text)
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body 8a97bf644ae136cc6941f94bc1737498
grant execute to escapement_relay

function escapement.prune_outbox(p_ids bigint[])
  returns bigint
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body 2c8eccd2b99c94e37e271bdf4b329216
grant execute to escapement_relay

function escapement.quarantine(p_task bigint, p_reason text DEFAULT NULL::text)
  returns text
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body 8a12e768fb5f271c6d7023aad567e8c8
grant execute to escapement_operator

function escapement.recipient(tenant text, subject text)
  returns text
  language sql, immutable, parallel safe
  RETURN ((('escapement:'::text || replace(replace(tenant, '%'::text, '%25'::text), '/'::text, '%2F'::text)) || '/'::text) || subject)

function escapement.reclaim(p_queue text, p_slots integer[], p_limit integer)
  returns TABLE(task_id bigint, tenant text, slot integer, due_at timestamp with time zone)
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body d22836b27f8643b38793864a80668fdb
grant execute to escapement_dispatcher

function escapement.record_action(p_action text, p_target text, p_reason text, p_result text)
  returns void
  language sql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body 1d39e7aab182847116743e540ccd3d90

function escapement.redrive(p_task bigint, p_attempt integer, p_reason text DEFAULT NULL::text)
  returns text
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body 7c7b4b22b9c8700b2c9aaff9a86b7cb3
grant execute to escapement_operator

function escapement.redrive_all(p_kind text, p_channel text, p_outcome text, p_limit integer, p_reason text DEFAULT NULL::text)
  returns TABLE(task_id bigint, result text)
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body 4ef3b6028ba0eb8b5b4fca6c1322c328
grant execute to escapement_operator

function escapement.renew(p_tasks bigint[], p_attempts integer[])
  returns TABLE(answer text)
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body e0a8638d4ab505456b6b166850564753
grant execute to escapement_dispatcher

function escapement.reschedule(p_task bigint, p_attempt integer, p_due timestamp with time zone, p_reason text DEFAULT NULL::text)
  returns text
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body 9274e45e9c6f54a457032d315a145f23
grant execute to escapement_operator

function escapement.resolve(p_task bigint, p_resolution text, p_note text DEFAULT NULL::text)
  returns text
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body 850e9d54974d8bdf3f8bf731b8a35f3e
grant execute to escapement_operator

function escapement.resolve_all(p_resolution text, p_kind text, p_channel text, p_outcome text, p_limit integer, p_note text DEFAULT NULL::text)
  returns TABLE(task_id bigint, result text)
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body 6690506c97fed66047ebc7406496714b
grant execute to escapement_operator

function escapement.resume(p_scope text, p_name text, p_reason text DEFAULT NULL::text)
  returns text
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body b50b3ca179ac98e1ac21865ad3ab6262
grant execute to escapement_operator

function escapement.retire(p_limit integer, p_reason text DEFAULT NULL::text)
  returns TABLE(intents bigint, tasks bigint, at_end boolean)
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body 8fae1fdd3ddd2c9583b6bfbd50698cca
grant execute to escapement_operator

function escapement.retry_after(p_missing bigint, p_rate double precision)
  returns bigint
  language sql, volatile, parallel unsafe
  RETURN ((((1000)::double precision * LEAST(GREATEST(((GREATEST(p_missing, (1)::bigint))::double precision / GREATEST(p_rate, (0.001)::double precision)), (0.2)::double precision), (60)::double precision)) * ((1)::double precision + (random() / (2)::double precision))))::bigint

function escapement.rule_key(contract text, observation text, uncertain boolean, tries_left boolean, cancel_requested boolean, exhaustion text)
  returns integer
  language sql, immutable, parallel safe
  RETURN (((((((CASE contract WHEN 'TRANSACTIONAL'::text THEN 0 WHEN 'IDEMPOTENT'::text THEN 1 WHEN 'QUERYABLE'::text THEN 2 WHEN 'OPAQUE'::text THEN 3 ELSE NULL::integer END * 64) + CASE observation WHEN 'COMPLETED'::text THEN 0 WHEN 'ACCEPTED'::text THEN 1 WHEN 'FAILED'::text THEN 2 WHEN 'POISONED'::text THEN 3 WHEN 'LEASE_EXPIRED'::text THEN 4 WHEN 'RELEASED'::text THEN 5 WHEN 'TTL_EXPIRED'::text THEN 6 WHEN 'ACCEPTED_REPLAY'::text THEN 7 WHEN 'REFUSED'::text THEN 8 WHEN 'REJECTED'::text THEN 9 WHEN 'TIMEOUT'::text THEN 10 WHEN 'IO_ERROR'::text THEN 11 WHEN 'UNCLEAR'::text THEN 12 WHEN 'QUERY_FOUND'::text THEN 13 WHEN 'QUERY_NOT_FOUND'::text THEN 14 WHEN 'QUERY_FAILED'::text THEN 15 WHEN 'PREFERENCE_OFF'::text THEN 16 WHEN 'KEY_EXPIRED'::text THEN 17 WHEN 'MANUAL_DONE'::text THEN 18 WHEN 'MANUAL_FAILED'::text THEN 19 WHEN 'MANUAL_RETRY'::text THEN 20 ELSE NULL::integer END) * 16) + ((uncertain)::integer * 8)) + ((tries_left)::integer * 4)) + ((cancel_requested)::integer * 2)) + ((exhaustion = 'QUARANTINED'::text))::integer)

function escapement.run_command(p_type text, p jsonb)
  returns void
  language plpgsql, volatile, parallel unsafe, security definer
  set IntervalStyle=postgres
  set search_path=escapement, pg_temp
  body cb6d1331a44715fd76bd2811906388a2

function escapement.serves(p_kind text, p_channel text, p_kinds text[], p_channels text[], p_local text[])
  returns boolean
  language sql, immutable, parallel safe
  RETURN (((p_channels IS NULL) OR (p_channel = ANY (p_channels))) AND ((p_kinds IS NULL) OR (p_kind = ANY (p_kinds)) OR ((p_channels IS NOT NULL) AND (p_channel <> ALL (p_local)))))

function escapement.set_limits(p_max_tasks bigint, p_max_bytes bigint, p_reason text)
  returns void
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body b14baded3b8f00f6be56a7b5b2e0dde6
grant execute to escapement_operator

function escapement.set_preference(p_tenant text, p_subject text, p_channel text, p_address text, p_enabled boolean, p_version bigint DEFAULT NULL::bigint, p_reason text DEFAULT NULL::text)
  returns text
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body e597f77c89e71fa24f053d5071dc0e95
grant execute to escapement_operator

function escapement.set_tenant(p_tenant text, p_max_tasks bigint, p_max_bytes bigint, p_weight integer, p_reason text)
  returns void
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body ee01922932dbd17c6783f8d7a2519e98
grant execute to escapement_operator

function escapement.settle(p_tasks bigint[], p_seen text[], p_details text[] DEFAULT NULL::text[], p_effects bytea[] DEFAULT NULL::bytea[], p_message_ids text[] DEFAULT NULL::text[], p_retry_after_micros bigint[] DEFAULT NULL::bigint[], p_late text[] DEFAULT NULL::text[], p_late_details text[] DEFAULT NULL::text[])
  returns TABLE(task_id bigint, state escapement.task_state, due_at timestamp with time zone, tenant text, slot smallint)
  language plpgsql, volatile, parallel unsafe, security definer
  set enable_hashjoin=off
  set enable_mergejoin=off
  set enable_seqscan=off
  set search_path=escapement, pg_temp
  body 29722e4ea677e5cd1d04353ffe561634

function escapement.slot_state(p_slot text)
  returns TABLE(plugin text, database text, active_pid integer, confirmed text, written text, retained_bytes bigint, unusable text)
  language plpgsql, stable, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body fca217ae6b278134f8ab507c04027e8b
grant execute to escapement_operator
grant execute to escapement_reader
grant execute to escapement_relay

function escapement.submit(p_source text, p_id text, p_tenant text, p_kind text, p_value bytea, p_subject text DEFAULT NULL::text, p_due timestamp with time zone DEFAULT NULL::timestamp with time zone, p_expires timestamp with time zone DEFAULT NULL::timestamp with time zone, p_max_attempts integer DEFAULT NULL::integer, p_issued timestamp with time zone DEFAULT NULL::timestamp with time zone, p_content_type text DEFAULT NULL::text)
  returns TABLE(decision text, reason text)
  language sql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body 03771a50383e4da629b6be3c0f8d2158
grant execute to escapement_ingest
grant execute to escapement_operator

function escapement.suspend(p_channel text, p_reason text)
  returns text
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body 66fd59dbd2d5df809fd412cfc2e597ec
grant execute to escapement_dispatcher

function escapement.take_seats(p_tenant text[], p_decision text[], p_tasks integer[], p_value bytea[], p_if_room boolean)
  returns void
  language plpgsql, volatile, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body c124859579e9b4aa7b2883c0e2e64e01

function escapement.task_ids(p_count integer)
  returns bigint
  language plpgsql, volatile, parallel unsafe
  set search_path=escapement, pg_temp
  body 6d3e521c41817541f1ed5f4f259aeeeb

function escapement.task_line(p_change text, p_task escapement.task, p_intent escapement.intent, p_observation text, p_detail text)
  returns text
  language sql, stable, parallel unsafe, security definer
  set search_path=escapement, pg_temp
  body 9fdeb2a46609c4fc404adc74cdc82ce0

function escapement.unserved(p_queue text, p_kinds text[], p_channels text[])
  returns TABLE(kind text, channel text, due_since timestamp with time zone)
  language sql, stable, parallel unsafe, security definer
  set enable_bitmapscan=off
  set enable_seqscan=off
  set search_path=escapement, pg_temp
  body 7fcc4b41837c58028453e7c45843f9a2
grant execute to escapement_dispatcher

publication escapement_outbox publish insert of escapement.outbox
