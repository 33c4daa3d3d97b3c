package io.escapement.ledger;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A reading of the ledger for people: backlog and budgets.
 *
 * @param needsReview how many tasks are parked: only a person can settle them
 * @param paused what is not claimed, as scope and name
 * @param held the partitions whose requests wait for room
 */
public record Status(
    Instant readAt,
    List<Backlog> backlog,
    List<Budget> budgets,
    long needsReview,
    List<String> paused,
    List<Held> held,
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
   * A partition of a requests topic that waits for room instead of being refused.
   *
   * @param position the offset of the record that waits
   * @param full the budget that has no room for it
   */
  public record Held(String topic, int partition, long position, Instant since, Decision full) {}

  /**
   * A budget and what is used of it (unfolded release slips taken off).
   *
   * @param tenant null for the budget of the whole ledger
   */
  public record Budget(
      @Nullable String tenant, long usedTasks, long maxTasks, long usedBytes, long maxBytes) {}
}
