-- So many accepted tasks that wait, due one after the other; answers when the first is due.
with made as (
  insert into escapement.intent (id, namespace, event_id, tenant, kind, slot, first_task,
    task_count, content_type, value, issued_at, last_issued_at)
  select n.id, ?, n.id::text, 'tenant-' || n.id % ?, ?, n.id * 7919 % 256, n.id, 1,
         'application/octet-stream', convert_to(repeat('x', ?), 'UTF8'), now(), now()
  from (select nextval('escapement.task_id') as id from generate_series(1, ?)) n
  returning id, tenant, kind, slot, octet_length(value) as bytes
), due as (
  select now() + ? * interval '1 microsecond' as first, ? * interval '1 microsecond' as step
), tasks as (
  insert into escapement.task (id, intent_id, tenant, kind, channel, queue, slot, bytes, state,
    due_at, tries_left)
  select m.id, m.id, m.tenant, m.kind, 'local', 'default', m.slot, m.bytes, 'SCHEDULED',
         d.first + (row_number() over (order by m.id) - 1) * d.step, 5
  from made m cross join due d
), seats as (
  update escapement.budget b
  set used_tasks = b.used_tasks + s.tasks, used_bytes = b.used_bytes + s.bytes
  from (select tenant, count(*) as tasks, sum(bytes) as bytes from made group by tenant
        union all
        select '', count(*), sum(bytes) from made) s
  where b.tenant = s.tenant
)
select first from due
