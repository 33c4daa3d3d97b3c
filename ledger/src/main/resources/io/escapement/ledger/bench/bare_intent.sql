insert into escapement.intent (id, namespace, event_id, tenant, kind, slot, first_task, task_count,
  content_type, value, issued_at, last_issued_at)
select u.id, ?, u.event_id, u.tenant, ?, u.slot, u.id, 1, ?, u.value, u.issued, u.issued
from unnest(?::int8[], ?::text[], ?::text[], ?::int2[], ?::bytea[], ?::timestamptz[])
  u(id, event_id, tenant, slot, value, issued)
