package io.escapement.wheel;

/**
 * Moments as ticks: tick {@code t} starts at {@code t * tickNanos}.
 *
 * <p>A moment has reached the ticks up to {@link #atOrBefore}; a deadline is met by the ticks from
 * {@link #atOrAfter} on. That a timer is never early and at most a tick late is these two
 * roundings.
 */
final class Ticks {
  private static final int DIVIDED = -1;

  private final long tickNanos;

  /** How far a tick that is a power of two is shifted, {@link #DIVIDED} if it is none. */
  private final int shift;

  /** The tick in which time begins. It starts earlier than there are moments. */
  private final long first;

  private final long last;

  Ticks(long tickNanos) {
    this.tickNanos = tickNanos;
    shift = Long.bitCount(tickNanos) == 1 ? Long.numberOfTrailingZeros(tickNanos) : DIVIDED;
    first = Math.floorDiv(Long.MIN_VALUE, tickNanos);
    last = (Long.MAX_VALUE - 1) / tickNanos;
  }

  long atOrBefore(long nanos) {
    return shift == DIVIDED ? Math.floorDiv(nanos, tickNanos) : nanos >> shift;
  }

  long atOrAfter(long nanos) {
    if (shift == DIVIDED) {
      return Math.ceilDiv(nanos, tickNanos);
    }
    long mask = tickNanos - 1;
    return (nanos >> shift) + (((nanos & mask) + mask) >> shift);
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
