package io.escapement.ledger;

import org.jspecify.annotations.Nullable;

/**
 * What a worker saw of an attempt.
 *
 * @param detail of a failure, any text; made storable and cut at {@link Limits#DETAIL_BYTES}
 * @param effect what a completed task leaves in the ledger; null otherwise
 */
public record Observation(
    long task, int attempt, Seen seen, @Nullable String detail, byte @Nullable [] effect) {

  /** The kinds of observation that a worker can make. */
  public enum Seen {
    /** The work is done; the effect and the completion are one transaction. */
    COMPLETED,
    /** It failed and may be tried again. */
    FAILED,
    /** It failed and will fail again. */
    POISONED,
    /** Handed back, surely not started. */
    RELEASED
  }

  public Observation {
    if ((seen == Seen.COMPLETED) != (effect != null)) {
      throw new IllegalArgumentException(
          "task " + task + ": an effect belongs to COMPLETED and to nothing else, not " + seen);
    }
  }

  /** Done, with its effect. */
  public static Observation completed(long task, int attempt, byte[] effect) {
    return new Observation(task, attempt, Seen.COMPLETED, null, effect);
  }

  /** Failed, may be tried again. */
  public static Observation failed(long task, int attempt, String detail) {
    return new Observation(task, attempt, Seen.FAILED, detail, null);
  }

  /** Failed for good. */
  public static Observation poisoned(long task, int attempt, String detail) {
    return new Observation(task, attempt, Seen.POISONED, detail, null);
  }

  /** Handed back, surely not started. */
  public static Observation released(long task, int attempt) {
    return new Observation(task, attempt, Seen.RELEASED, null, null);
  }
}
