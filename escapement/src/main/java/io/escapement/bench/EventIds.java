package io.escapement.bench;

import java.util.Iterator;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Ids of events: one after the other, as a source that counts gives them, or all over the place, as
 * UUIDs are. The same seed gives the same ids.
 */
final class EventIds implements Iterator<String> {

  /** Beyond those of any history. */
  private static final long FIRST = 500_000_000_000L;

  private final boolean random;
  private final SplittableRandom bits;
  private long next;

  EventIds(boolean random, long seed) {
    this.random = random;
    this.bits = new SplittableRandom(seed);
    this.next = FIRST + seed * 1_000_000_000L;
  }

  @Override
  public boolean hasNext() {
    return true;
  }

  @Override
  public String next() {
    long number = next++;
    return random
        ? String.format(Locale.ROOT, "%016x%016x", bits.nextLong(), bits.nextLong())
        : Long.toString(number);
  }
}
