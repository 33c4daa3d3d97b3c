select slot, active, wal_status, lag_bytes, retained_bytes from escapement.relay_lag order by slot
