select script, checksum from escapement.migrations
