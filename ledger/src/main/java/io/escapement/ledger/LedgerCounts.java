package io.escapement.ledger;

import java.util.Map;

/** How many rows there are; states without tasks are absent. */
public record LedgerCounts(
    Map<TaskState, Long> tasks, long intents, long effects, long outboxRows) {

  public LedgerCounts {
    tasks = Map.copyOf(tasks);
  }

  /** Tasks in one state. */
  public long in(TaskState state) {
    return tasks.getOrDefault(state, 0L);
  }
}
