package io.escapement.ledger;

import java.time.Duration;

/**
 * What a kind of work is.
 *
 * @param name the CloudEvent's type
 * @param queue the named stream of due work it goes to
 * @param channel who executes it
 * @param maxAttempts tries of a fresh task, 1 to {@link Limits#MAX_ATTEMPTS}
 * @param lease how long a claim holds without renewal, 100 ms to 1 h
 * @param timeout a running attempt's lease is not renewed past this, at least the lease
 * @param backoffBase wait before the second try; doubles with each further one
 * @param backoffCap longest wait
 * @param backoffJitter added to a wait, as a share of it, 0 to 1; never shortens it
 * @param exhaustion where a task goes that has used up its tries
 */
public record KindDefinition(
    String name,
    String queue,
    String channel,
    int maxAttempts,
    Duration lease,
    Duration timeout,
    Duration backoffBase,
    Duration backoffCap,
    double backoffJitter,
    Exhaustion exhaustion) {

  /** Where a task goes that has used up its tries. */
  public enum Exhaustion {
    /** Its seat is given back. */
    FAILED,
    /** It keeps its seat and waits for an operator. */
    QUARANTINED
  }

  /** The name of the channel whose effects are written in this database. */
  public static final String LOCAL_CHANNEL = "local";

  /** The queue that kinds go to unless they name another. */
  public static final String DEFAULT_QUEUE = "default";

  /** A kind on the local channel and the default queue, with the usual settings. */
  public static KindDefinition local(String name) {
    return new KindDefinition(
        name,
        DEFAULT_QUEUE,
        LOCAL_CHANNEL,
        5,
        Duration.ofSeconds(30),
        Duration.ofMinutes(10),
        Duration.ofSeconds(1),
        Duration.ofMinutes(5),
        0.2,
        Exhaustion.FAILED);
  }

  /** The same with other tries. */
  public KindDefinition withMaxAttempts(int attempts) {
    return new KindDefinition(
        name,
        queue,
        channel,
        attempts,
        lease,
        timeout,
        backoffBase,
        backoffCap,
        backoffJitter,
        exhaustion);
  }

  /** The same with another lease. */
  public KindDefinition withLease(Duration newLease) {
    return new KindDefinition(
        name,
        queue,
        channel,
        maxAttempts,
        newLease,
        timeout,
        backoffBase,
        backoffCap,
        backoffJitter,
        exhaustion);
  }

  /** The same with other backoff. */
  public KindDefinition withBackoff(Duration base, Duration cap, double jitter) {
    return new KindDefinition(
        name, queue, channel, maxAttempts, lease, timeout, base, cap, jitter, exhaustion);
  }
}
