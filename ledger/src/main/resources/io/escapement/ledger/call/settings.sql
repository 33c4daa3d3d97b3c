select ledger_id, replay_window_millis, max_payload_bytes from escapement.settings
