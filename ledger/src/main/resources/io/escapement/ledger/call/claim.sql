select * from escapement.claim(?, ?, ?, ?)
