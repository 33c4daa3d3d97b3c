select escapement.resolve(?, ?, ?)
