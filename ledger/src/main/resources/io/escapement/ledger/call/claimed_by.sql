select * from escapement.claimed_by(?)
