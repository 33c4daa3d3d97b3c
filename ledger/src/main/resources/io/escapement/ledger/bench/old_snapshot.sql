select count(*) from escapement.kind
