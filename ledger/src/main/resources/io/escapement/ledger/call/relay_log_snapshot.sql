select escapement.log_snapshot()
