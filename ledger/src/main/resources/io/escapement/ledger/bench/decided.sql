select coalesce(sum(position), 0) from escapement.ingest_position where topic = ?
