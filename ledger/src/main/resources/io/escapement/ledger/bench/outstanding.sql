-- As the budget counts, less what is given back and not yet taken off: exact, and it reads no task.
select used_tasks - coalesce((select sum(tasks) from escapement.release_slip), 0)
from escapement.budget
where tenant = ''
