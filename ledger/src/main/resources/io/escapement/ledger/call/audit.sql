select invariant, detail from escapement.audit()
