package io.escapement.ledger;

/** What a cancellation did to one task; {@code task} is 0 with {@code NOT_FOUND}. */
public record CancelAnswer(long task, Result result) {
  /** The answers of cancel. */
  public enum Result {
    /** It was never claimed and never will be. */
    CANCELLED_UNSTARTED,
    /** It waited, with nothing at large. */
    CANCELLED,
    /** It runs: nothing of it will be committed here. */
    REQUESTED,
    /** It had ended before. */
    TOO_LATE,
    /** It was cancelled before. */
    ALREADY_CANCELLED,
    /** Only an unstarted task was to be cancelled, and this one was claimed before. */
    NOT_CANCELLED,
    /** No such identity. */
    NOT_FOUND
  }
}
