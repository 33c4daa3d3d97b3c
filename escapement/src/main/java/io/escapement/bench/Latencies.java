package io.escapement.bench;

import io.escapement.assembly.CommandFailure;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * When each of some numbered things was begun and when it arrived.
 *
 * <p>Thread rule: one thread begins, another one notes arrivals; asked when both are done.
 */
final class Latencies {

  private static final double NANOS_PER_MILLI = 1e6;

  private final AtomicLongArray begun;
  private final AtomicLongArray arrived;

  Latencies(int most) {
    begun = new AtomicLongArray(most);
    arrived = new AtomicLongArray(most);
  }

  void begun(int number, long nanos) {
    begun.set(number, nanos);
  }

  /** What is not numbered within bounds is not measured. */
  void arrived(int number, long nanos) {
    if (number >= 0 && number < arrived.length()) {
      arrived.set(number, nanos);
    }
  }

  /** How many of the things from a number on have arrived. */
  boolean allArrived(int from, int to) {
    for (int i = from; i < to; i++) {
      if (arrived.get(i) == 0) {
        return false;
      }
    }
    return true;
  }

  /**
   * Adds the percentiles of those from a number on to what was measured.
   *
   * @return the same for people
   */
  String addTo(Figures figures, String caseName, int from, int to) {
    double[] millis = percentileMillis(from, to, 0.5, 0.99);
    figures.add(caseName, "p50_ms", millis[0], "ms");
    figures.add(caseName, "p99_ms", millis[1], "ms");
    return String.format(
        Locale.ROOT, "  p50 %.1f ms, p99 %.1f ms at %s", millis[0], millis[1], caseName);
  }

  private double[] percentileMillis(int from, int to, double... shares) {
    double[] millis = new double[to - from];
    for (int i = from; i < to; i++) {
      if (arrived.get(i) == 0) {
        throw new CommandFailure("number " + i + " never arrived");
      }
      millis[i - from] = (arrived.get(i) - begun.get(i)) / NANOS_PER_MILLI;
    }
    Arrays.sort(millis);
    return Arrays.stream(shares)
        .map(share -> millis[Math.max(0, (int) Math.ceil(share * millis.length) - 1)])
        .toArray();
  }
}
