package io.escapement.wheel;

/**
 * The shape of a {@link TimerWheel}: how long a tick is, and how many slots there are on how many
 * levels.
 *
 * <p>A slot of level 0 is one tick wide; a slot of the level above is as wide as the whole level
 * below. Together the levels span {@code slotsPerLevel} to the power of {@code levels} ticks, and a
 * timer is accepted when its tick is fewer ticks ahead than that.
 *
 * <ul>
 *   <li>A longer tick makes timers later (by at most one tick, never earlier) and lets a driver
 *       wake less often.
 *   <li>More slots mean fewer moves from level to level, and four bytes and a bit of memory each.
 *   <li>More levels mean a longer horizon; a timer is moved at most {@code levels - 1} times.
 * </ul>
 *
 * <p>One slot is the degenerate case: it spans a single tick, so that only timers already due are
 * accepted.
 *
 * @param tickNanos the length of a tick in nanoseconds, at least 1; any length, not only powers of
 *     two
 * @param slotsPerLevel from 1 to {@link #MAX_SLOTS_PER_LEVEL}; powers of two are a little faster
 * @param levels at least 1; at most as many as keep the span within {@link #MAX_SPAN_TICKS}
 */
public record WheelGeometry(long tickNanos, int slotsPerLevel, int levels) {
  /** Levels wider than this would spend their time looking for the next slot in use. */
  public static final int MAX_SLOTS_PER_LEVEL = 1 << 20;

  /**
   * How many ticks a wheel can span: a timer keeps its tick in 32 bits. 49 days of milliseconds.
   */
  public static final long MAX_SPAN_TICKS = 1L << 32;

  private static final int MAX_LEVELS = 32;

  /** One millisecond, 3 levels of 256 slots: a horizon of four and a half hours. */
  public static final WheelGeometry DEFAULT = new WheelGeometry(1_000_000, 256, 3);

  /**
   * Checks the shape.
   *
   * @throws IllegalArgumentException if a value, or the span that they make together, is out of
   *     bounds
   */
  public WheelGeometry {
    if (tickNanos < 1) {
      throw new IllegalArgumentException("tickNanos must be at least 1, not " + tickNanos);
    }
    if (slotsPerLevel < 1 || slotsPerLevel > MAX_SLOTS_PER_LEVEL) {
      throw new IllegalArgumentException(
          "slotsPerLevel must be from 1 to " + MAX_SLOTS_PER_LEVEL + ", not " + slotsPerLevel);
    }
    if (levels < 1 || levels > MAX_LEVELS) {
      throw new IllegalArgumentException(
          "levels must be from 1 to " + MAX_LEVELS + ", not " + levels);
    }
    long span = 1;
    for (int level = 0; level < levels; level++) {
      span *= slotsPerLevel;
      if (span > MAX_SPAN_TICKS) {
        throw new IllegalArgumentException(
            levels
                + " levels of "
                + slotsPerLevel
                + " slots span more than "
                + MAX_SPAN_TICKS
                + " ticks: take fewer of either, or a longer tick");
      }
    }
  }

  /**
   * How many ticks the wheel spans. A timer {@code spanTicks() - 1} ticks ahead is accepted, one
   * {@code spanTicks()} ahead is not.
   *
   * @return slots per level to the power of levels
   */
  public long spanTicks() {
    long span = 1;
    for (int level = 0; level < levels; level++) {
      span *= slotsPerLevel;
    }
    return span;
  }

  /**
   * The delay that is accepted whatever the moment. Rounding to ticks lets some longer ones pass.
   *
   * @return nanoseconds, {@link Long#MAX_VALUE} if there are more
   */
  public long horizonNanos() {
    long wholeTicks = spanTicks() - 1;
    return wholeTicks > Long.MAX_VALUE / tickNanos ? Long.MAX_VALUE : wholeTicks * tickNanos;
  }
}
