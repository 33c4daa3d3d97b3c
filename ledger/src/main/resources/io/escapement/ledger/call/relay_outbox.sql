select id, created_at, events from escapement.outbox order by id
