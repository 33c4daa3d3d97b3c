select intents, effects, outbox_rows from escapement.ledger_counts
