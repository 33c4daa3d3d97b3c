with ended as (
  update escapement.task
  set state = 'DONE', due_at = null, action = null, claimed_at = null, lease_owner = null,
      lease_until = null
  where id = any(?)
  returning id, attempt
)
insert into escapement.effect (task_id, attempt, bytes) select id, attempt, '\x01' from ended
