select * from escapement.claim(?, ?)
