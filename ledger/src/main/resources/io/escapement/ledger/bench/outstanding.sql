-- As the budget counts, less what is given back and not yet taken off: exact, and it reads no task.
-- The tenant without a name is all of them.
select used_tasks - coalesce(
  (select sum(s.tasks) from escapement.release_slip s where b.tenant in ('', s.tenant)), 0)
from escapement.budget b
where b.tenant = ?
