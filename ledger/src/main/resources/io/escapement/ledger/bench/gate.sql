-- Reading goes on; whoever wants to advance a position waits.
lock table escapement.ingest_position in exclusive mode
