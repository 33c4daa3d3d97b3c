select ledger_id, max_payload_bytes from escapement.settings
