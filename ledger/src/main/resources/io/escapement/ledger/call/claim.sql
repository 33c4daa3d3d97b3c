select * from escapement.claim(?, ?, ?)
