select ids, written from escapement.prunable_outbox(make_interval(secs => ?), ?)
