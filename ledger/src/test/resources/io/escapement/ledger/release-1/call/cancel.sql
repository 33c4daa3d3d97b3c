select task_id, result from escapement.cancel(?, ?, ?, ?)
