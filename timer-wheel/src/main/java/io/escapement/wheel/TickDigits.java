package io.escapement.wheel;

/**
 * A tick read as a number in base {@code slotsPerLevel}: its digit {@code k} names its slot on
 * level {@code k}.
 *
 * <p>A timer waits on the lowest level on which its slot is less than a turn ahead of the hand's.
 * With 10 slots and 3 levels, the hand at 457:
 *
 * <pre>{@code
 * tick   slots ahead on level 0, 1, 2   level  slot   emptied at   what happens there
 *  459            2                       0      9        459      fires
 *  464            7                       0      4        464      fires
 *  483           26   3                   1      8        480      moves to level 0, slot 3
 *  551           94  10   1               2      5        500      moves to level 1, slot 5
 *  830          373  38   4               2      8        800      moves to level 1, slot 3
 * 1452          995 100  10               2      4       1400      moves to level 1, slot 5
 * }</pre>
 *
 * <p>The last is a full turn ahead on the top level, in the slot where the hand stands now: that
 * slot was emptied when the hand came into it. Floor division throughout, so that negative ticks
 * are nothing special. Powers of two are shifted instead.
 */
final class TickDigits {
  private final int slots;
  private final int topLevel;
  private final boolean powerOfTwo;
  private final int bitsPerDigit;

  /** How many ticks a slot of each level is wide. */
  private final long[] slotTicks;

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
  }

  /** Where a timer waits; its tick is not before the hand and less than a span ahead. */
  int level(long tick, long hand) {
    int level = 0;
    while (level < topLevel && slotNumber(tick, level) - slotNumber(hand, level) >= slots) {
      level++;
    }
    return level;
  }

  int slot(long tick, int level) {
    return powerOfTwo
        ? (int) (tick >> (level * bitsPerDigit)) & (slots - 1)
        : (int) Math.floorMod(slotNumber(tick, level), (long) slots);
  }

  /** The first tick of the slot in which that tick lies: when the slot is emptied. */
  long slotStart(long tick, int level) {
    return powerOfTwo
        ? tick & -1L << (level * bitsPerDigit)
        : slotNumber(tick, level) * slotTicks[level];
  }

  /** The first tick of the slot after the one in which that tick lies. */
  long nextSlotStart(long tick, int level) {
    return slotStart(tick, level) + slotTicks[level];
  }

  /** The first tick of the next slot with that digit, after the one in which that tick lies. */
  long slotStartAfter(long tick, int level, int slot) {
    int ahead = slot - slot(tick, level);
    return slotStart(tick, level) + (ahead > 0 ? ahead : ahead + slots) * slotTicks[level];
  }

  private long slotNumber(long tick, int level) {
    return powerOfTwo ? tick >> (level * bitsPerDigit) : Math.floorDiv(tick, slotTicks[level]);
  }
}
