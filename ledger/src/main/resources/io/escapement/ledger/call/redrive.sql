select escapement.redrive(?, ?, ?)
