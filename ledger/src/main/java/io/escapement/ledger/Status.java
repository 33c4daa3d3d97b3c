package io.escapement.ledger;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A reading of the ledger for people: backlog and budgets.
 *
 * @param needsReview how many tasks are parked: only a person can settle them
 * @param paused what is not claimed, as scope and name
 */
public record Status(
    Instant readAt,
    List<Backlog> backlog,
    List<Budget> budgets,
    long needsReview,
    List<String> paused,
    long outboxRows) {

  /**
   * Outstanding tasks of one queue in one state.
   *
   * @param due how many of them are due
   * @param oldestDueAt the earliest due time among them; null if none waits
   */
  public record Backlog(
      String queue, TaskState state, long tasks, long due, @Nullable Instant oldestDueAt) {}

  /**
   * A budget and what is used of it (unfolded release slips taken off).
   *
   * @param tenant null for the budget of the whole ledger
   */
  public record Budget(
      @Nullable String tenant, long usedTasks, long maxTasks, long usedBytes, long maxBytes) {}
}
