-- What admission and operators' commands write down beyond the first releases.

-- An act that was asked for by a record of the commands topic bears the event's source and id. The
-- source is what the record says of itself: nobody has authenticated it.
alter table escapement.operator_action
  add column source text,
  add column event_id text;
create index operator_action_event on escapement.operator_action (source, event_id)
  where event_id is not null;

-- A partition that waits at its position for room, since when and for whose budget.
alter table escapement.ingest_position
  add column held_since timestamptz,
  add column held_for text check (held_for in ('global_full', 'tenant_full')),
  add constraint held_whole check ((held_since is null) = (held_for is null));

-- How fast seats come back, tasks a second, as it was at the last fold.
alter table escapement.budget
  add column drain_rate double precision not null default 0 check (drain_rate >= 0),
  add column drained_at timestamptz not null default now();

-- Admission has more parameters now; the old ones can still be given alone.
drop function if exists escapement.admit(text[], uuid[], int[], bigint[], bigint[], int[], bigint[], text[],
  text[], text[], text[], text[], text[], text[], bigint[], bigint[], bigint[], int[], text[],
  bytea[], bytea[]);

-- What a command asked for, so that another one under the same source and id is not taken for it.
alter table escapement.operator_action add column event_digest bytea;
