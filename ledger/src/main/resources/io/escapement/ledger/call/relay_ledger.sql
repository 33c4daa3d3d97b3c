select ledger_id from escapement.settings
