select * from escapement.preconditions
