-- Built beside running work: none of these statements blocks writers.
drop index concurrently if exists escapement.task_lane;
-- What waits, lane by lane: so that what is paused, or has no handler, is passed over and not read.
create index concurrently task_lane
  on escapement.task (queue, tenant, kind, channel, due_at, slot)
  where state in ('SCHEDULED', 'UNKNOWN') and due_at is not null;

drop index concurrently if exists escapement.task_expiring_waiting;
-- Parked tasks are not among them: they do not expire.
create index concurrently task_expiring_waiting on escapement.task (queue, slot, expires_at)
  where state in ('SCHEDULED', 'UNKNOWN') and due_at is not null and expires_at is not null;

drop index concurrently if exists escapement.task_parked;
create index concurrently task_parked on escapement.task (kind, channel, id)
  where state = 'UNKNOWN' and due_at is null;
drop index concurrently if exists escapement.task_quarantined;
create index concurrently task_quarantined on escapement.task (kind, channel, id)
  where state = 'QUARANTINED';
