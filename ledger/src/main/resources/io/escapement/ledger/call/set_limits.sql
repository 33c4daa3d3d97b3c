select escapement.set_limits(?, ?, ?)
