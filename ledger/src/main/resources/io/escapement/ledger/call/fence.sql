select escapement.fence(?, ?)
