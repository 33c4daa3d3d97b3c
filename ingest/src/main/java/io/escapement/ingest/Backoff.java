package io.escapement.ingest;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * When to try again after failures: the wait doubles with each one up to a cap, and starts small
 * again after a success or a quiet time.
 *
 * <p>Thread rule: one thread. Time is the monotonic clock's.
 */
final class Backoff {

  private static final int MAX_DOUBLINGS = 20;

  private final LongSupplier nanoClock;
  private final long baseNanos;
  private final long capNanos;
  private int failures;
  private long lastFailureNanos;
  private long waitNanos;

  Backoff(Duration base, Duration cap, LongSupplier nanoClock) {
    this.baseNanos = base.toNanos();
    this.capNanos = cap.toNanos();
    this.nanoClock = nanoClock;
  }

  /** Notes a failure and returns how long to wait. */
  Duration failed() {
    waitNanos = Math.min(capNanos, baseNanos << Math.min(failures, MAX_DOUBLINGS));
    failures = Math.min(failures + 1, MAX_DOUBLINGS);
    lastFailureNanos = nanoClock.getAsLong();
    return Duration.ofNanos(waitNanos);
  }

  /** Notes that the work succeeded. */
  void succeeded() {
    failures = 0;
  }

  /** Forgets failures that lie further back than two of the longest waits. */
  void quiet() {
    if (failures > 0 && nanoClock.getAsLong() - lastFailureNanos > 2 * capNanos) {
      failures = 0;
    }
  }

  /** How long still to wait; zero if nothing is waited for. */
  Duration remaining() {
    if (failures == 0) {
      return Duration.ZERO;
    }
    long passed = nanoClock.getAsLong() - lastFailureNanos;
    return passed >= waitNanos ? Duration.ZERO : Duration.ofNanos(waitNanos - passed);
  }

  boolean failing() {
    return failures > 0;
  }
}
