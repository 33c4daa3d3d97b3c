select escapement.pause(?, ?, ?)
