update escapement.budget b
set used_tasks = b.used_tasks + u.tasks, used_bytes = b.used_bytes + u.bytes
from unnest(?::text[], ?::int8[], ?::int8[]) u(tenant, tasks, bytes)
where b.tenant = u.tenant
