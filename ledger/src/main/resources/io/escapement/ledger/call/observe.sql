select answer, state, due_at, outcome from escapement.observe(?, ?, ?, ?, ?, ?, ?)
