-- Tables, types and roles. Functions are repeatable migrations, one file each (R__*.sql).
--
-- Only the functions write these tables; the roles below may execute functions and read views.

do $$
declare
  r text;
begin
  foreach r in array array['escapement_ingest', 'escapement_relay', 'escapement_dispatcher',
                           'escapement_operator', 'escapement_reader'] loop
    begin
      execute format('create role %I nologin', r);
    exception when duplicate_object or unique_violation then
      null; -- roles belong to the cluster; another database's ledger may have made them
    end;
  end loop;
end $$;

-- Waiting states first: "state <= 'UNKNOWN'" reads as "waits" without implying the partial index
-- on waiting rows, which a claim by id must not walk.
create type escapement.task_state as enum
  ('SCHEDULED', 'UNKNOWN', 'CLAIMED', 'QUARANTINED', 'DONE', 'FAILED', 'CANCELLED', 'SUPPRESSED');

create type escapement.task_action as enum ('RUN', 'SEND', 'QUERY', 'NONE');

-- One row: what is true of the whole ledger.
create table escapement.ledger (
  one                  boolean primary key default true check (one),
  id                   uuid not null default gen_random_uuid(),
  replay_window        interval not null default '7 days' check (replay_window > '0'),
  max_payload_bytes    int not null default 262144 check (max_payload_bytes between 1 and 10485760),
  -- Limits of a tenant that nobody has set limits for; null: such a tenant is invalid.
  default_tenant_tasks bigint default 100000 check (default_tenant_tasks >= 0),
  default_tenant_bytes bigint default 1073741824 check (default_tenant_bytes >= 0),
  max_tenants          int not null default 10000 check (max_tenants > 0)
);
insert into escapement.ledger default values;

create table escapement.channel (
  name     text primary key check (octet_length(name) between 1 and 128),
  contract text not null check (contract in ('TRANSACTIONAL'))
);
insert into escapement.channel (name, contract) values ('local', 'TRANSACTIONAL');

create table escapement.kind (
  name           text primary key check (octet_length(name) between 1 and 255),
  queue          text not null check (queue ~ '^[a-z0-9][a-z0-9_-]{0,99}$'),
  channel        text not null references escapement.channel (name),
  max_attempts   int not null check (max_attempts between 1 and 1000),
  lease          interval not null check (lease between '100 milliseconds' and '1 hour'),
  timeout        interval not null check (timeout >= lease and timeout <= '7 days'),
  backoff_base   interval not null check (backoff_base between '0' and '7 days'),
  backoff_cap    interval not null check (backoff_cap >= backoff_base and backoff_cap <= '7 days'),
  backoff_jitter double precision not null check (backoff_jitter between 0 and 1),
  exhaustion     text not null check (exhaustion in ('FAILED', 'QUARANTINED'))
);

-- The state machine; see R__03_rules.sql. The key is computed from the columns, so that the hot path
-- joins on one integer.
create table escapement.rule (
  key              int primary key,
  contract         text not null,
  observation      text not null,
  uncertain        boolean not null,
  tries_left       boolean not null,
  cancel_requested boolean not null,
  exhaustion       text not null,
  next_state       escapement.task_state not null,
  next_uncertain   boolean not null,
  next_due         text not null check (next_due in ('NEVER', 'NOW', 'BACKOFF')),
  returns_try      boolean not null,
  writes_effect    boolean not null,
  unique (contract, observation, uncertain, tries_left, cancel_requested, exhaustion),
  check ((next_state <= 'UNKNOWN') = (next_due <> 'NEVER'))
);

-- Ids of intents and tasks come from one sequence: an ordinary intent's only task has the intent's
-- id, and the tasks of any intent are the range that starts at first_task, so that no index on
-- task (intent_id) is needed on the hot path.
create sequence escapement.task_id as bigint cache 32;

create table escapement.intent (
  id             bigint primary key,
  namespace      text not null check (octet_length(namespace) between 1 and 1024),
  event_id       text not null check (octet_length(event_id) between 1 and 512),
  tenant         text not null check (octet_length(tenant) between 1 and 128),
  kind           text not null,
  subject        text check (octet_length(subject) between 1 and 1024),
  slot           smallint not null check (slot between 0 and 255),
  first_task     bigint not null,
  task_count     int not null check (task_count >= 0),
  content_type   text,
  value          bytea not null,
  issued_at      timestamptz not null,
  -- The latest issued-at of any replay: an identity is forgotten only when this too is long ago.
  last_issued_at timestamptz not null,
  accepted_at    timestamptz not null default now()
);
-- The one place where an identity is unique; what admission's processes arbitrate by.
create unique index intent_identity on escapement.intent (namespace, event_id);

create table escapement.task (
  id               bigint primary key,
  intent_id        bigint not null,
  tenant           text not null,
  kind             text not null,
  channel          text not null,
  queue            text not null,
  slot             smallint not null,
  bytes            int not null check (bytes >= 0),
  state            escapement.task_state not null,
  due_at           timestamptz,
  attempt          int not null default 0 check (attempt >= 0),
  tries_left       int not null check (tries_left >= 0),
  action           escapement.task_action,
  claimed_at       timestamptz,
  lease_owner      text,
  lease_until      timestamptz,
  uncertain        boolean not null default false,
  first_sent_at    timestamptz,
  cancel_requested boolean not null default false,
  expires_at       timestamptz,
  constraint claimed_iff_lease check
    ((state = 'CLAIMED') = (lease_until is not null)
     and (state = 'CLAIMED') = (lease_owner is not null)
     and (state = 'CLAIMED') = (claimed_at is not null)
     and (state = 'CLAIMED') = (action is not null)),
  constraint scheduled_has_due_and_tries check
    (state <> 'SCHEDULED' or (due_at is not null and tries_left > 0)),
  constraint ended_has_no_due check (state < 'QUARANTINED' or due_at is null)
);

-- Partial, so that history costs the hot path nothing.
create index task_waiting on escapement.task (queue, slot, due_at)
  where state in ('SCHEDULED', 'UNKNOWN');
create index task_claimed on escapement.task (queue, slot, lease_until)
  where state = 'CLAIMED';
create index task_expiring on escapement.task (queue, slot, expires_at)
  where state in ('SCHEDULED', 'UNKNOWN') and expires_at is not null;

-- One row per finished attempt, inserted once. While an attempt runs, the task row is its record.
create table escapement.attempt (
  task_id      bigint not null,
  number       int not null check (number > 0),
  worker       text,
  action       escapement.task_action not null,
  due_at       timestamptz,
  claimed_at   timestamptz,
  finished_at  timestamptz not null,
  outcome      text not null,
  detail       text,
  message_id   text,
  late_outcome text,
  late_detail  text,
  late_at      timestamptz,
  primary key (task_id, number)
);

create table escapement.effect (
  task_id    bigint primary key,
  attempt    int not null,
  bytes      bytea not null,
  created_at timestamptz not null default now()
);

-- What is promised to a tenant and what of it is used; the tenant '' is the whole ledger.
create table escapement.budget (
  tenant     text primary key check (octet_length(tenant) <= 128),
  max_tasks  bigint not null check (max_tasks >= 0),
  max_bytes  bigint not null check (max_bytes >= 0),
  used_tasks bigint not null default 0 check (used_tasks >= 0),
  used_bytes bigint not null default 0 check (used_bytes >= 0),
  weight     int not null default 1 check (weight between 1 and 1000)
) with (fillfactor = 50);
insert into escapement.budget (tenant, max_tasks, max_bytes) values ('', 1000000, 10737418240);

-- A seat given back, not yet taken off the budget: completions never wait for a budget row.
create table escapement.release_slip (
  id     bigint generated always as identity primary key,
  tenant text not null,
  tasks  bigint not null,
  bytes  bigint not null
);

-- How far each partition's records are decided; the fence of admission. A topic that was created
-- again has another id, so its rows start anew.
create table escapement.ingest_position (
  topic_id   uuid not null,
  partition  int not null check (partition >= 0),
  topic      text not null,
  position   bigint not null check (position >= 0),
  updated_at timestamptz not null default now(),
  primary key (topic_id, partition)
) with (fillfactor = 50);

-- One row per transaction that has something to say, all its events packed; see R__01_field.sql.
create table escapement.outbox (
  id         bigint generated always as identity primary key,
  created_at timestamptz not null default now(),
  events     text not null
);
alter table escapement.outbox alter column events set storage external;

create publication escapement_outbox for table escapement.outbox with (publish = 'insert');

create table escapement.operator_action (
  id           bigint generated always as identity primary key,
  at           timestamptz not null default clock_timestamp(),
  session_role text not null default session_user,
  action       text not null,
  target       text not null,
  reason       text,
  result       text not null
);

-- The busiest tables: vacuum them by rows changed, not by share of history.
alter table escapement.task set (autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
alter table escapement.outbox set (autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0);
alter table escapement.release_slip set (autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

grant usage on schema escapement
  to escapement_ingest, escapement_relay, escapement_dispatcher, escapement_operator,
     escapement_reader;
revoke create on schema escapement from public;
grant select on escapement.outbox to escapement_relay;
