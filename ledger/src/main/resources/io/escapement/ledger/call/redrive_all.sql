select task_id, result from escapement.redrive_all(?, ?, ?, ?, ?)
