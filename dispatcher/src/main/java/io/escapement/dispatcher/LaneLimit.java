package io.escapement.dispatcher;

/**
 * How much of one kind, or on one channel, one process runs.
 *
 * @param concurrency most handlers at once, from 1
 * @param perSecond most starts a second on average, above 0; infinite for no such limit. A second's
 *     worth (at least one) may start together
 */
public record LaneLimit(int concurrency, double perSecond) {

  public LaneLimit {
    if (concurrency < 1) {
      throw new DispatcherException("a limit's concurrency is " + concurrency + "; at least 1");
    }
    if (!(perSecond > 0)) {
      throw new DispatcherException("a limit's rate is " + perSecond + "; it must be above 0");
    }
  }

  /** At most so many at once, at any rate. */
  public static LaneLimit ofConcurrency(int concurrency) {
    return new LaneLimit(concurrency, Double.POSITIVE_INFINITY);
  }
}
