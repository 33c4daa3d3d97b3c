select task_id, tenant, slot, wake_at, claimed from escapement.horizon(?, ?, ?, ?, ?)
