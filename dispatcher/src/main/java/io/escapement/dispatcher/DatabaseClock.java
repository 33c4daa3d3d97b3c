package io.escapement.dispatcher;

import java.time.Instant;

/**
 * The database's clock as this process can know it between round trips: never ahead of it.
 *
 * <p>Each reading of the database's clock lies between the sending of the question and the arrival
 * of the answer. The answer's arrival is taken, so that this clock runs behind by at most the round
 * trip of the best recent reading and what a wheel does by it is never early. The JVM's wall clock
 * plays no part. A reading that contradicts the earlier ones is of another clock, as after a
 * failover: the earlier ones are forgotten.
 *
 * <p>Cost: nothing; readings come with calls that are made anyway. Thread rule: its owner's only.
 */
final class DatabaseClock {

  /** Old readings are forgotten, so that a failover to another clock is noticed. */
  private static final int READINGS = 8;

  /** Clocks that are being set right run faster or slower by up to one part in this. */
  private static final long DRIFT = 1_000;

  private static final long SLACK_NANOS = 1_000_000;

  private final long[] arrivals = new long[READINGS];
  private final long[] offsets = new long[READINGS];
  private final long[] roundTrips = new long[READINGS];
  private int readings;

  /**
   * Takes a reading.
   *
   * @param sentNanos the monotonic clock before the question
   * @param arrivedNanos the monotonic clock after the answer
   */
  void read(Instant database, long sentNanos, long arrivedNanos) {
    long offset = epochNanos(database) - arrivedNanos;
    long roundTrip = arrivedNanos - sentNanos;
    if (contradicts(offset, roundTrip, arrivedNanos)) {
      readings = 0;
    }
    int at = readings % READINGS;
    offsets[at] = offset;
    roundTrips[at] = roundTrip;
    arrivals[at] = arrivedNanos;
    readings++;
  }

  /**
   * Whether a reading and the best one before can't be of one clock: the spans in which the true
   * offset lies do not meet, even if the clocks drift apart.
   */
  private boolean contradicts(long offset, long roundTrip, long arrivedNanos) {
    if (readings == 0) {
      return false;
    }
    int best = best();
    long slack = SLACK_NANOS + (arrivedNanos - arrivals[best]) / DRIFT;
    return offset > offsets[best] + roundTrips[best] + slack
        || offset + roundTrip < offsets[best] - slack;
  }

  /** Forgets all readings: they turned out to be wrong. */
  void reset() {
    readings = 0;
  }

  boolean isSet() {
    return readings > 0;
  }

  /** The database's clock at least, nanoseconds since the epoch. */
  long nanosAt(long monotonicNanos) {
    if (readings == 0) {
      throw new IllegalStateException("the database's clock has not been read yet");
    }
    return offsets[best()] + monotonicNanos;
  }

  /** How far behind the database's clock this one may be, in nanoseconds. */
  long errorNanos() {
    return readings == 0 ? Long.MAX_VALUE : roundTrips[best()];
  }

  private int best() {
    int best = 0;
    for (int i = 1; i < Math.min(readings, READINGS); i++) {
      if (roundTrips[i] < roundTrips[best]) {
        best = i;
      }
    }
    return best;
  }

  static long epochNanos(Instant instant) {
    return Math.addExact(
        Math.multiplyExact(instant.getEpochSecond(), 1_000_000_000L), instant.getNano());
  }

  static Instant instant(long epochNanos) {
    return Instant.ofEpochSecond(
        Math.floorDiv(epochNanos, 1_000_000_000L), Math.floorMod(epochNanos, 1_000_000_000L));
  }
}
