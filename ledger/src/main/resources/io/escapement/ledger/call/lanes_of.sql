select * from escapement.lanes_of(?)
