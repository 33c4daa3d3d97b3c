select escapement.prune_outbox(?)
