select task_id, result from escapement.resolve_all(?, ?, ?, ?, ?, ?)
