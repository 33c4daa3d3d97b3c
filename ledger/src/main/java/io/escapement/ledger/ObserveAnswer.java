package io.escapement.ledger;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** What became of one observation. */
public sealed interface ObserveAnswer {

  /** The task that the observation was of. */
  long task();

  /**
   * It counted: this is the task's state now.
   *
   * @param dueAt when the task is due again; null unless it waits
   */
  record Applied(long task, int attempt, TaskState state, @Nullable Instant dueAt)
      implements ObserveAnswer {}

  /**
   * Too late: the lease was over or somebody else has taken over. The task's state is not this
   * worker's doing; what it saw stands beside the attempt's row.
   *
   * @param dueAt when the task is due again; null unless it waits
   */
  record Late(long task, int attempt, TaskState state, @Nullable Instant dueAt)
      implements ObserveAnswer {}

  /** This very attempt was settled before, with another or the same observation. */
  record Repeated(long task, int attempt, TaskState state, String outcome)
      implements ObserveAnswer {}

  /** There is no such attempt of such a task: a programmer's error, or retired meanwhile. */
  record NoSuchAttempt(long task, int attempt) implements ObserveAnswer {}
}
