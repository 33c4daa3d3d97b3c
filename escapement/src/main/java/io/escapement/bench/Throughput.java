package io.escapement.bench;

import java.util.ArrayList;
import java.util.List;

/**
 * How much was done by when, and from that the rate in the steady middle: the first and the last
 * twentieth are left out, where things begin and end.
 *
 * <p>Thread rule: one thread.
 */
final class Throughput {

  private static final double FROM = 0.05;
  private static final double TO = 0.95;

  private record Sample(long nanos, long done) {}

  private final List<Sample> samples = new ArrayList<>();

  /** So much is done by now. */
  void note(long done) {
    if (samples.isEmpty() || samples.getLast().done() != done) {
      samples.add(new Sample(System.nanoTime(), done));
    }
  }

  /** The rate a second in the middle of so many. */
  double perSecond(long total) {
    Sample first = atLeast(total * FROM);
    Sample last = atLeast(total * TO);
    if (last.nanos() == first.nanos()) {
      // Fewer than can be told apart.
      first = samples.getFirst();
      last = samples.getLast();
    }
    long nanos = Math.max(1, last.nanos() - first.nanos());
    return (last.done() - first.done()) * 1e9 / nanos;
  }

  private Sample atLeast(double done) {
    return samples.stream()
        .filter(sample -> sample.done() >= done)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("not so much was done: " + done));
  }
}
