-- External contracts, preferences, pauses, retention. Short: what takes long was done before (V2) and
-- is done afterwards (R__99), because from here on until the functions are made anew nothing can be
-- claimed.

-- The busiest first, so that nobody waits for the others while this one is waited for.
lock table escapement.task in access exclusive mode;

-- Functions whose answer or parameters have changed; the repeatable migrations make them anew.
drop function if exists
  escapement.settle(bigint[], text[], text[], bytea[], text[], text[]),
  escapement.claim(text, text[], bigint[]),
  escapement.claimed_by(text),
  escapement.leased(text, bigint[]),
  escapement.observe(bigint[], int[], text[], text[], bytea[]),
  escapement.horizon(text, int[], text[], timestamptz, int),
  escapement.define_kind(text, text, text, int, interval, interval, interval, interval,
    double precision, text, text);
drop view if exists escapement.kinds;
-- V2 has built its successor.
drop index escapement.task_expiring;

alter table escapement.channel
  drop constraint channel_contract_check,
  add constraint channel_contract_check
    check (contract in ('TRANSACTIONAL', 'IDEMPOTENT', 'QUERYABLE', 'OPAQUE')),
  -- How long a call may take; how long after it what was accepted can be found; how long a key is
  -- remembered after the first call (null: for ever).
  add column timeout interval check (timeout between '1 millisecond' and '1 hour'),
  add column settle interval check (settle between '0' and '7 days'),
  add column key_retention interval check (key_retention between '1 second' and '10 years'),
  add constraint timeout_iff_external check ((contract = 'TRANSACTIONAL') = (timeout is null)),
  add constraint settle_iff_queryable check ((contract = 'QUERYABLE') = (settle is not null)),
  add constraint key_retention_only_idempotent
    check (contract = 'IDEMPOTENT' or key_retention is null);

alter table escapement.kind
  add column routing text not null default 'FIXED' check (routing in ('FIXED', 'PREFERENCE')),
  add column channels text[];
update escapement.kind set channels = array[channel];
alter table escapement.kind
  alter column channels set not null,
  alter column routing drop default,
  drop column channel,
  add constraint channels_fit_routing check (
    cardinality(channels) between 1 and 16 and array_position(channels, null) is null
    and (routing = 'PREFERENCE' or cardinality(channels) = 1));

-- The state machine; see R__03_rules.sql. UNKNOWN that is due NEVER is parked.
drop table escapement.rule;
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
  next_due         text not null check (next_due in ('NEVER', 'NOW', 'BACKOFF', 'SETTLE')),
  returns_try      boolean not null,
  fresh_tries      boolean not null,
  writes_effect    boolean not null,
  unique (contract, observation, uncertain, tries_left, cancel_requested, exhaustion),
  check (next_state in ('SCHEDULED', 'UNKNOWN') or next_due = 'NEVER'),
  check (next_state <> 'SCHEDULED' or next_due <> 'NEVER'),
  check (next_uncertain = (next_state = 'UNKNOWN'))
);

alter table escapement.task
  -- What the request said; null: as its kind has it.
  add column max_attempts int check (max_attempts between 1 and 1000),
  drop constraint scheduled_has_due_and_tries,
  -- UNKNOWN without a due time is parked. Whatever waits is SCHEDULED if it is certain and UNKNOWN
  -- if it is not; what has ended is certain.
  add constraint waiting_has_due_and_tries check (
    case state
      when 'SCHEDULED' then not uncertain and due_at is not null and tries_left > 0
      when 'UNKNOWN' then uncertain and (due_at is null or tries_left > 0)
      when 'CLAIMED' then true
      when 'QUARANTINED' then true
      else not uncertain
    end) not valid,
  add constraint first_sent_iff_at_large check (
    (first_sent_at is not null) = (uncertain or coalesce(action = 'SEND', false))) not valid;

-- What a recipient has switched on. Tenants' users are apart: the same name in two tenants is two
-- people.
create table escapement.preference (
  tenant     text not null check (octet_length(tenant) between 1 and 128),
  subject    text not null check (octet_length(subject) between 1 and 1024),
  channel    text not null references escapement.channel (name),
  address    text check (octet_length(address) between 1 and 2048),
  enabled    boolean not null,
  version    bigint not null check (version > 0),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (tenant, subject, channel)
);

-- What is not to be claimed.
create table escapement.pause (
  scope  text not null check (scope in ('queue', 'kind', 'channel', 'tenant')),
  name   text not null check (octet_length(name) between 1 and 255),
  since  timestamptz not null default clock_timestamp(),
  reason text,
  primary key (scope, name)
);

-- Where the next round of forgetting goes on.
create table escapement.retention (
  one         boolean primary key default true check (one),
  next_intent bigint not null default 0
);
insert into escapement.retention default values;

-- Written once and deleted in bulk by forgetting: vacuumed before a twentieth of them is dead, so
-- that what is forgotten makes room for what comes, and as often frozen while only rows come.
alter table escapement.intent set (autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
alter table escapement.attempt set (autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
alter table escapement.effect set (autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
-- A few rows that every admission updates: their pages prune themselves, this keeps them small
-- when a long transaction has kept them from it.
alter table escapement.budget set (autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
alter table escapement.ingest_position set (autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
