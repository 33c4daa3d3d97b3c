select escapement.reschedule(?, ?, ?, ?)
