-- Every row that contradicts an invariant, at most 100 a check; no row is the good answer. One
-- statement, so one snapshot: it may run beside everything else.
create or replace function escapement.audit() returns table (invariant text, detail text)
language sql stable security definer set search_path = escapement, pg_temp as $$
  with
  outstanding as (
    select tenant, count(*) as tasks, sum(bytes) as bytes from task
    where state < 'DONE' group by tenant
  ),
  slips as (
    select tenant, sum(tasks) as tasks, sum(bytes) as bytes from release_slip group by tenant
  ),
  used as (
    select b.tenant, b.used_tasks - coalesce(s.tasks, 0) as tasks,
           b.used_bytes - coalesce(s.bytes, 0) as bytes
    from budget b left join slips s using (tenant) where b.tenant <> ''
    union all
    select '', b.used_tasks - coalesce((select sum(tasks) from slips), 0),
           b.used_bytes - coalesce((select sum(bytes) from slips), 0)
    from budget b where b.tenant = ''
  ),
  expected as (
    select tenant, tasks, bytes from outstanding
    union all
    select '', coalesce(sum(tasks), 0), coalesce(sum(bytes), 0) from outstanding
  ),
  last_attempt as (
    select task_id, count(*) as n, max(number) as top from attempt group by task_id
  )
  (select 'I3', 'tenant ''' || coalesce(u.tenant, e.tenant) || ''': used '
      || coalesce(u.tasks, 0) || ' tasks and ' || coalesce(u.bytes, 0) || ' bytes, outstanding '
      || coalesce(e.tasks, 0) || ' and ' || coalesce(e.bytes, 0)
    from used u full join expected e on e.tenant = u.tenant
    where (coalesce(u.tasks, 0), coalesce(u.bytes, 0))
      is distinct from (coalesce(e.tasks, 0), coalesce(e.bytes, 0))
    limit 100)
  union all
  (select 'I4', 'attempt ' || task_id || '/' || number || ' claimed ' || (due_at - claimed_at)
      || ' before its task was due'
    from attempt where claimed_at < due_at limit 100)
  union all
  (select 'I5', 'task ' || t.id || ' is at attempt ' || t.attempt || ' but has one numbered '
      || a.top
    from task t join last_attempt a on a.task_id = t.id
    where a.top > t.attempt or (t.state = 'CLAIMED' and a.top = t.attempt) limit 100)
  union all
  (select 'I6', 'task ' || t.id || ' is ' || t.state || ' with '
      || case when e.task_id is null then 'no effect' else 'an effect' end
    from task t join channel c on c.name = t.channel left join effect e on e.task_id = t.id
    where c.contract = 'TRANSACTIONAL' and (t.state = 'DONE') <> (e.task_id is not null)
    limit 100)
  union all
  (select 'I6', 'the effect of task ' || e.task_id || ' is of attempt ' || e.attempt
      || ', which did not complete'
    from effect e left join attempt a on a.task_id = e.task_id and a.number = e.attempt
      and a.outcome = 'COMPLETED'
    where a.task_id is null limit 100)
  union all
  (select 'I9', 'task ' || t.id || ' had ' || (t.attempt - (t.state = 'CLAIMED')::int)
      || ' attempts and has ' || coalesce(a.n, 0) || ' rows of them'
    from task t left join last_attempt a on a.task_id = t.id
    where t.attempt - (t.state = 'CLAIMED')::int <> coalesce(a.n, 0) limit 100)
  union all
  (select 'I10', 'task ' || id || ' is ' || state || ' with '
      || case when lease_until is null then 'no' else 'a' end || ' lease and '
      || case when due_at is null then 'no' else 'a' end || ' due time'
    from task
    where (state = 'CLAIMED') <> (lease_until is not null)
      or (state = 'SCHEDULED' and due_at is null) or (state >= 'QUARANTINED' and due_at is not null)
    limit 100)
  union all
  (select 'REF', 'task ' || t.id || ' has no intent, kind or channel'
    from task t left join intent i on i.id = t.intent_id left join kind k on k.name = t.kind
      left join channel c on c.name = t.channel
    where i.id is null or k.name is null or c.name is null limit 100)
  union all
  (select 'REF', 'intent ' || i.id || ' should have ' || i.task_count || ' tasks and has '
      || count(t.id)
    from intent i left join task t on t.intent_id = i.id
      and t.id >= i.first_task and t.id < i.first_task + i.task_count
    group by i.id having count(t.id) <> i.task_count limit 100)
  union all
  (select 'REF', 'attempt ' || a.task_id || '/' || a.number || ' is of no task'
    from attempt a left join task t on t.id = a.task_id where t.id is null limit 100);
$$;
revoke all on function escapement.audit from public;
grant execute on function escapement.audit to escapement_operator, escapement_reader;
