select task_id, tenant, slot, due_at from escapement.reclaim(?, ?, ?)
