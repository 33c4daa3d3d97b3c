select escapement.quarantine(?, ?)
