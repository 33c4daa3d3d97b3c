select count(*) from escapement.needs_review
