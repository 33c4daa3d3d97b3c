select * from escapement.unserved(?, ?, ?)
