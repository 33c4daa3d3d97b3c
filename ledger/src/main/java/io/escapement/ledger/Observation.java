package io.escapement.ledger;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a worker saw of an attempt.
 *
 * @param detail of a failure, any text; made storable and cut at {@link Limits#DETAIL_BYTES}
 * @param effect what a completed task leaves in the ledger; null otherwise
 * @param messageId the provider's name for what it accepted; null if it gave none
 * @param retryAfter how long a provider that refused asked to wait; counts if longer than the
 *     backoff, 7 days at most; for what is handed back, when it is worth another look; null: none
 */
public record Observation(
    long task,
    int attempt,
    Seen seen,
    @Nullable String detail,
    byte @Nullable [] effect,
    @Nullable String messageId,
    @Nullable Duration retryAfter) {

  /** The kinds of observation that a worker can make. */
  public enum Seen {
    /** The work is done; the effect and the completion are one transaction. */
    COMPLETED,
    /** It failed and may be tried again. */
    FAILED,
    /** It failed and will fail again. */
    POISONED,
    /** The call was accepted. */
    ACCEPTED,
    /** The call's key was known: an earlier one had been accepted. */
    ACCEPTED_REPLAY,
    /** Surely not accepted; it may be tried again. */
    REFUSED,
    /** Surely not accepted, and never will be. */
    REJECTED,
    /** No answer in time. */
    TIMEOUT,
    /** The connection broke after something was sent. */
    IO_ERROR,
    /** An answer that does not tell. */
    UNCLEAR,
    /** Asked: it had been accepted. */
    QUERY_FOUND,
    /** Asked: it had not been accepted. */
    QUERY_NOT_FOUND,
    /** Asked, without an answer. */
    QUERY_FAILED,
    /** Handed back, surely not started. */
    RELEASED
  }

  public Observation {
    if ((seen == Seen.COMPLETED) != (effect != null)) {
      throw new IllegalArgumentException(
          "task " + task + ": an effect belongs to COMPLETED and to nothing else, not " + seen);
    }
  }

  /** Without what only some observations have. */
  public static Observation of(long task, int attempt, Seen seen, @Nullable String detail) {
    return new Observation(task, attempt, seen, detail, null, null, null);
  }

  /** Done, with its effect. */
  public static Observation completed(long task, int attempt, byte[] effect) {
    return new Observation(task, attempt, Seen.COMPLETED, null, effect, null, null);
  }

  /** Failed, may be tried again. */
  public static Observation failed(long task, int attempt, String detail) {
    return of(task, attempt, Seen.FAILED, detail);
  }

  /** Failed for good. */
  public static Observation poisoned(long task, int attempt, String detail) {
    return of(task, attempt, Seen.POISONED, detail);
  }

  /** Accepted, under the provider's own name if it gave one. */
  public static Observation accepted(long task, int attempt, @Nullable String messageId) {
    return new Observation(task, attempt, Seen.ACCEPTED, null, null, messageId, null);
  }

  /** An earlier call had been accepted, under the provider's own name if it gave one. */
  public static Observation replayed(long task, int attempt, @Nullable String messageId) {
    return new Observation(task, attempt, Seen.ACCEPTED_REPLAY, null, null, messageId, null);
  }

  /** Asked: it had been accepted, under the provider's own name if it gave one. */
  public static Observation found(long task, int attempt, @Nullable String messageId) {
    return new Observation(task, attempt, Seen.QUERY_FOUND, null, null, messageId, null);
  }

  /** Surely not accepted; may be tried again, not before that time if it is given. */
  public static Observation refused(
      long task, int attempt, String detail, @Nullable Duration retryAfter) {
    return new Observation(task, attempt, Seen.REFUSED, detail, null, null, retryAfter);
  }

  /** Handed back, surely not started; not worth another look before this time is over. */
  public static Observation postponed(long task, int attempt, String detail, Duration until) {
    return new Observation(task, attempt, Seen.RELEASED, detail, null, null, until);
  }

  /** Handed back, surely not started. */
  public static Observation released(long task, int attempt) {
    return of(task, attempt, Seen.RELEASED, null);
  }
}
