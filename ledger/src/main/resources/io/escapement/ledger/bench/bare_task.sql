insert into escapement.task (id, intent_id, tenant, kind, channel, queue, slot, bytes, state, due_at,
  tries_left)
select u.id, u.id, u.tenant, ?, 'local', 'default', u.slot, ?, 'SCHEDULED', now(), 5
from unnest(?::int8[], ?::text[], ?::int2[]) u(id, tenant, slot)
