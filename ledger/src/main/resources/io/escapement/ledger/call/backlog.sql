select queue, state, tasks, due, oldest_due_at from escapement.backlog order by queue, state
