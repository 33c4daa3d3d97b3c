select escapement.resume(?, ?, ?)
