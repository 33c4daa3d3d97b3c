select tenant, used_tasks, max_tasks, used_bytes, max_bytes from escapement.budgets order by tenant nulls first
