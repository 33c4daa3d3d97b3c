select escapement.suspend(?, ?)
