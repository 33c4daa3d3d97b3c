select claims, p50_ms, p99_ms, max_ms from escapement.lateness
