package io.escapement.wheel;

/**
 * Moments as ticks: tick {@code t} starts at {@code t * tickNanos}.
 *
 * <p>A moment has reached the ticks up to {@link #atOrBefore}; a deadline is met by the ticks from
 * {@link #atOrAfter} on. That a timer is never early and at most a tick late is these two
 * roundings.
 */
final class Ticks {
  private final long tickNanos;

  /** The tick in which time begins. It starts earlier than there are moments. */
  private final long first;

  private final long last;

  Ticks(long tickNanos) {
    this.tickNanos = tickNanos;
    first = Math.floorDiv(Long.MIN_VALUE, tickNanos);
    last = (Long.MAX_VALUE - 1) / tickNanos;
  }

  long atOrBefore(long nanos) {
    return Math.floorDiv(nanos, tickNanos);
  }

  long atOrAfter(long nanos) {
    return Math.ceilDiv(nanos, tickNanos);
  }

  /** The last tick that starts before {@link Long#MAX_VALUE}, which means never. */
  long last() {
    return last;
  }

  long startNanos(long tick) {
    return tick == first ? Long.MIN_VALUE : tick * tickNanos;
  }

  /** When the tick has passed, {@link Long#MAX_VALUE} if never. */
  long endNanos(long tick) {
    return tick >= last ? Long.MAX_VALUE : (tick + 1) * tickNanos;
  }
}
