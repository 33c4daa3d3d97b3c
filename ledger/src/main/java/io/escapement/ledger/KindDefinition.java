package io.escapement.ledger;

import java.time.Duration;
import java.util.List;

/**
 * What a kind of work is.
 *
 * @param name the CloudEvent's type
 * @param queue the named stream of due work it goes to
 * @param routing whether its tasks go to its one channel or to those that the recipient has
 *     switched on; can't change later, because it decides what the identity of a request is
 * @param channels who executes it: one if the routing is fixed, 1 to 16 otherwise
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
    Routing routing,
    List<String> channels,
    int maxAttempts,
    Duration lease,
    Duration timeout,
    Duration backoffBase,
    Duration backoffCap,
    double backoffJitter,
    Exhaustion exhaustion) {

  /** Where a kind's tasks go. */
  public enum Routing {
    /** To its one channel. */
    FIXED,
    /** To those of its channels that the recipient, the request's subject, has switched on. */
    PREFERENCE
  }

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

  public KindDefinition {
    channels = List.copyOf(channels);
  }

  /** A kind whose tasks go to one channel. */
  public KindDefinition(
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
    this(
        name,
        queue,
        Routing.FIXED,
        List.of(channel),
        maxAttempts,
        lease,
        timeout,
        backoffBase,
        backoffCap,
        backoffJitter,
        exhaustion);
  }

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

  /** The same on another channel. */
  public KindDefinition withChannel(String channel) {
    return with(Routing.FIXED, List.of(channel), maxAttempts, lease, exhaustion);
  }

  /** The same for those of these channels that the recipient has switched on. */
  public KindDefinition byPreference(String... anyOf) {
    return with(Routing.PREFERENCE, List.of(anyOf), maxAttempts, lease, exhaustion);
  }

  /** The same with other tries. */
  public KindDefinition withMaxAttempts(int attempts) {
    return with(routing, channels, attempts, lease, exhaustion);
  }

  /** The same with another lease. */
  public KindDefinition withLease(Duration newLease) {
    return with(routing, channels, maxAttempts, newLease, exhaustion);
  }

  /** The same with another end of its tries. */
  public KindDefinition withExhaustion(Exhaustion other) {
    return with(routing, channels, maxAttempts, lease, other);
  }

  /** The same with another bound on all renewals of a lease together. */
  public KindDefinition withTimeout(Duration other) {
    return new KindDefinition(
        name,
        queue,
        routing,
        channels,
        maxAttempts,
        lease,
        other,
        backoffBase,
        backoffCap,
        backoffJitter,
        exhaustion);
  }

  /** The same with other backoff. */
  public KindDefinition withBackoff(Duration base, Duration cap, double jitter) {
    return new KindDefinition(
        name, queue, routing, channels, maxAttempts, lease, timeout, base, cap, jitter, exhaustion);
  }

  private KindDefinition with(
      Routing newRouting,
      List<String> newChannels,
      int attempts,
      Duration newLease,
      Exhaustion newExhaustion) {
    return new KindDefinition(
        name,
        queue,
        newRouting,
        newChannels,
        attempts,
        newLease,
        timeout,
        backoffBase,
        backoffCap,
        backoffJitter,
        newExhaustion);
  }
}
