select escapement.outcome(?, ?)
