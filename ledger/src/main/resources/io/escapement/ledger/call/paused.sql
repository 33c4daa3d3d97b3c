select scope || ' ' || name as what from escapement.paused order by scope, name
