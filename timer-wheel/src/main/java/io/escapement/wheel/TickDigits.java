package io.escapement.wheel;

/**
 * A tick read as a number in base {@code slotsPerLevel}: its digit {@code k} names its slot on
 * level {@code k}.
 *
 * <p>Which level a timer belongs to follows from where its tick and the hand's first differ, read
 * from the left. With 10 slots and 3 levels, the hand at 457:
 *
 * <pre>{@code
 * tick   first difference    level  slot   its event   what happens there
 *  459   last digit            0      9       459      fires
 *  483   middle digit          1      8       480      moves to level 0, slot 3
 *  830   leading digit         2      8       800      moves to level 1, slot 3
 * 1402   beyond the leading    2      4      1400      moves to level 0, slot 2 (the next turn of the top level)
 * }</pre>
 *
 * <p>Floor division throughout, so that negative ticks are nothing special. Powers of two are
 * shifted instead.
 */
final class TickDigits {
  private final int slots;
  private final int topLevel;
  private final boolean powerOfTwo;
  private final int bitsPerDigit;

  /** How many ticks a slot of each level is wide. */
  private final long[] slotTicks;

  /**
   * The level for each number of significant bits in the difference of two ticks; powers of two
   * only.
   */
  private final byte[] levelBySignificantBits = new byte[Long.SIZE + 1];

  TickDigits(WheelGeometry geometry) {
    slots = geometry.slotsPerLevel();
    topLevel = geometry.levels() - 1;
    powerOfTwo = Integer.bitCount(slots) == 1;
    bitsPerDigit = Integer.numberOfTrailingZeros(slots);
    slotTicks = new long[geometry.levels()];
    slotTicks[0] = 1;
    for (int level = 1; level <= topLevel; level++) {
      slotTicks[level] = slotTicks[level - 1] * slots;
    }
    for (int bits = 1; bits <= Long.SIZE; bits++) {
      levelBySignificantBits[bits] =
          (byte) Math.min((bits - 1) / Math.max(bitsPerDigit, 1), topLevel);
    }
  }

  /**
   * The level on which a timer of that tick waits; the tick is not before the hand and less than a
   * span ahead.
   */
  int level(long tick, long hand) {
    if (powerOfTwo) {
      return levelBySignificantBits[Long.SIZE - Long.numberOfLeadingZeros(tick ^ hand)];
    }
    int level = 0;
    while (level < topLevel
        && Math.floorDiv(tick, slotTicks[level + 1]) != Math.floorDiv(hand, slotTicks[level + 1])) {
      level++;
    }
    return level;
  }

  int slot(long tick, int level) {
    return powerOfTwo
        ? (int) (tick >> (level * bitsPerDigit)) & (slots - 1)
        : (int) Math.floorMod(Math.floorDiv(tick, slotTicks[level]), (long) slots);
  }

  /** The first tick of the slot in which that tick lies: when the slot is emptied. */
  long slotStart(long tick, int level) {
    return powerOfTwo
        ? tick & -slotTicks[level]
        : Math.floorDiv(tick, slotTicks[level]) * slotTicks[level];
  }

  /**
   * The first tick of the slot that comes that many slots after the one in which that tick lies.
   */
  long slotStart(long tick, int level, int slotsLater) {
    return slotStart(tick, level) + slotsLater * slotTicks[level];
  }
}
