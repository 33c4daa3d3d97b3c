select state, tasks from escapement.task_counts
