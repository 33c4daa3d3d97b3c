select intents, tasks, at_end from escapement.forget(?)
