select intents, tasks, at_end from escapement.retire(?, ?)
