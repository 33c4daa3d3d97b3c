-- So many intents that were done days ago, each with its task, attempt and effect.
with made as (
  insert into escapement.intent (id, namespace, event_id, tenant, kind, slot, first_task,
    task_count, content_type, value, issued_at, last_issued_at, accepted_at)
  select n.id, ?, case when ? then md5(n.id::text) else lpad(n.id::text, 12, '0') end,
         'tenant-' || n.id % ?, ?, n.id * 7919 % 256, n.id, 1, 'application/octet-stream',
         convert_to(repeat('x', ?), 'UTF8'), now() - interval '2 days', now() - interval '2 days',
         now() - interval '2 days'
  from (select nextval('escapement.task_id') as id from generate_series(1, ?)) n
  returning id, tenant, kind, slot, octet_length(value) as bytes
), tasks as (
  insert into escapement.task (id, intent_id, tenant, kind, channel, queue, slot, bytes, state,
    attempt, tries_left)
  select id, id, tenant, kind, 'local', 'default', slot, bytes, 'DONE', 1, 4 from made
), attempts as (
  insert into escapement.attempt (task_id, number, worker, action, due_at, claimed_at, finished_at,
    outcome)
  select id, 1, 'history', 'RUN', now() - interval '2 days', now() - interval '2 days',
         now() - interval '2 days', 'COMPLETED'
  from made
)
insert into escapement.effect (task_id, attempt, bytes) select id, 1, 'x' from made
