package io.escapement.wheel;

/**
 * The wheel's slots, and the hand that says what they are relative to.
 *
 * <p>Each slot of each level is a bucket, emptied when the hand reaches its first tick: on level 0
 * its timers are due then, on the others they move to lower levels. One bucket more holds the
 * timers that were already due when they came.
 *
 * <p>Cancelled timers are not looked for: they are dropped where they are come upon. So that they
 * cannot outnumber the others by much, cancelling looks through one block at a time once they do
 * ({@link #sweep}).
 */
final class Levels {
  /** No tick. */
  static final long NEVER = Long.MAX_VALUE;

  private final int slots;
  private final int levels;
  private final int arrivals;
  private final int deadAllowance;
  private final Ticks ticks;
  private final TickDigits digits;
  private final Buckets buckets;
  private final Handles handles;
  private long hand;
  private long moves;

  /** The next block to look through, {@link Buckets#NONE} if no sweep is under way. */
  private int sweepBlock = Buckets.NONE;

  Levels(WheelGeometry geometry, Ticks ticks, Handles handles, int deadAllowance, long hand) {
    slots = geometry.slotsPerLevel();
    levels = geometry.levels();
    arrivals = slots * levels;
    digits = new TickDigits(geometry);
    buckets = new Buckets(arrivals + 1, handles);
    this.ticks = ticks;
    this.handles = handles;
    this.deadAllowance = deadAllowance;
    this.hand = hand;
  }

  long hand() {
    return hand;
  }

  /** Moves the hand on over slots that are empty. */
  void moveHand(long tick) {
    hand = tick;
  }

  long moves() {
    return moves;
  }

  /** Adds a timer that is due already; its handle. */
  long addArrival(long payload) {
    return addNew(arrivals, hand, payload);
  }

  /** The level of a timer due after the hand and within the span. */
  int level(long tick) {
    return digits.level(tick, hand);
  }

  /** When the slot of a timer on that level must be emptied. */
  long event(long tick, int level) {
    return digits.slotStart(tick, level);
  }

  /** Adds a timer on its level; its handle. */
  long add(long tick, int level, long payload) {
    return addNew(bucket(tick, level), tick, payload);
  }

  private long addNew(int bucket, long tick, long payload) {
    int position = buckets.push(bucket);
    buckets.set(position, tick, payload);
    return handles.issue(buckets.indexAt(position));
  }

  private void free(int position) {
    int index = buckets.indexAt(position);
    if (!handles.free(index)) {
      buckets.replaceIndex(position, handles.newIndex());
    }
  }

  private int bucket(long tick, int level) {
    return level * slots + digits.slot(tick, level);
  }

  /** Makes due what was already due when it came. */
  void admitArrivals() {
    while (!buckets.isEmpty(arrivals)) {
      int end = buckets.end(arrivals);
      buckets.pop(arrivals);
      int position = buckets.push(digits.slot(hand, 0));
      buckets.move(end, position);
      buckets.setTick(position, hand);
    }
  }

  boolean hasArrivals() {
    return hasLive(arrivals);
  }

  /** Whether timers wait at the hand itself. */
  boolean hasDue() {
    return hasLive(digits.slot(hand, 0));
  }

  /** Fires what is due at the hand, and not what arrives meanwhile; how many. */
  int fire(int limit, TimerHandler handler) {
    long dueNanos = ticks.startNanos(hand);
    int bucket = digits.slot(hand, 0);
    int fired = 0;
    while (fired < limit && !buckets.isEmpty(bucket)) {
      int end = buckets.end(bucket);
      int index = buckets.indexAt(end);
      long payload = buckets.payloadAt(end);
      long handle = handles.handleAt(index);
      buckets.pop(bucket);
      free(end);
      if (Handles.isLive(handle)) {
        fired++;
        handler.onTimer(payload, dueNanos, handle);
      }
    }
    return fired;
  }

  /**
   * The next tick at which a slot with a live timer must be emptied, {@link #NEVER} if there is
   * none. Nothing may wait at the hand itself. Drops the dead that it comes upon.
   */
  long nextEvent() {
    while (true) {
      long next = NEVER;
      int bucket = Buckets.NONE;
      for (int level = 0; level < levels; level++) {
        int candidate = nextInUse(level * slots, digits.slot(hand, level));
        if (candidate != Buckets.NONE) {
          long start = digits.slotStartAfter(hand, level, candidate - level * slots);
          if (start < next) {
            next = start;
            bucket = candidate;
          }
        }
        // No slot of a higher level starts earlier than the one after the hand's.
        if (level + 1 < levels && next <= digits.nextSlotStart(hand, level + 1)) {
          break;
        }
      }
      if (bucket == Buckets.NONE || hasLive(bucket)) {
        return next;
      }
    }
  }

  /** Moves the hand to the next event. */
  void enter(long tick) {
    hand = tick;
    for (int level = levels - 1; level > 0; level--) {
      if (digits.slotStart(tick, level) == tick) {
        redistribute(level * slots + digits.slot(tick, level));
      }
    }
  }

  /** Looks through one block for dead timers, if they are many. */
  void sweep() {
    if (sweepBlock != Buckets.NONE) {
      sweepNextBlock();
    } else if (handles.dead() - deadAllowance > handles.live()) {
      sweepBlock = 0;
      sweepNextBlock();
    }
  }

  private void sweepNextBlock() {
    if (sweepBlock >= buckets.blocks()) {
      sweepBlock = Buckets.NONE;
      return;
    }
    int block = sweepBlock++;
    int bucket = buckets.owner(block);
    if (bucket == Buckets.NONE || !hasLive(bucket) || buckets.owner(block) != bucket) {
      return;
    }
    int first = buckets.firstPosition(block);
    long dead = deadMask(first, buckets.lastPosition(block));
    // From the last to the first: what takes a place in the same block has been looked at.
    while (dead != 0) {
      int bit = Long.SIZE - 1 - Long.numberOfLeadingZeros(dead);
      dead ^= 1L << bit;
      free(first + bit);
      buckets.remove(bucket, first + bit);
    }
  }

  /** Visits the live timers. The visitor may kill handles, and must not drop records. */
  void forEach(TimerHandler visitor) {
    for (int block = 0; block < buckets.blocks(); block++) {
      int bucket = buckets.owner(block);
      if (bucket == Buckets.NONE) {
        continue;
      }
      int first = buckets.firstPosition(block);
      for (int position = buckets.lastPosition(block); position >= first; position--) {
        int index = buckets.indexAt(position);
        if (handles.isLive(index)) {
          long tick = bucket == arrivals ? hand : aheadOfHand(buckets.lowTickAt(position));
          visitor.onTimer(
              buckets.payloadAt(position), ticks.startNanos(tick), handles.handleAt(index));
        }
      }
    }
  }

  void clear() {
    for (int block = 0; block < buckets.blocks(); block++) {
      if (buckets.owner(block) != Buckets.NONE) {
        int first = buckets.firstPosition(block);
        for (int position = buckets.lastPosition(block); position >= first; position--) {
          free(position);
        }
      }
    }
    buckets.clear();
    sweepBlock = Buckets.NONE;
  }

  long heapBytes() {
    return buckets.heapBytes();
  }

  /** Puts each timer of a slot that the hand has reached where it now belongs. */
  private void redistribute(int bucket) {
    while (!buckets.isEmpty(bucket)) {
      int last = buckets.end(bucket);
      int first = buckets.firstPosition(buckets.blockOf(last));
      long dead = deadMask(first, last);
      long live = dead ^ all(first, last);
      moves += Long.bitCount(live);
      for (; live != 0; live &= live - 1) {
        int position = first + Long.numberOfTrailingZeros(live);
        long tick = aheadOfHand(buckets.lowTickAt(position));
        buckets.move(position, buckets.push(bucket(tick, level(tick))));
      }
      for (; dead != 0; dead &= dead - 1) {
        free(first + Long.numberOfTrailingZeros(dead));
      }
      buckets.cut(bucket, first - 1);
    }
  }

  /**
   * A bit for each timer of a block that is dead. Their generations lie anywhere in memory: read
   * without a branch in between, they are waited for together.
   */
  private long deadMask(int first, int last) {
    long live = 0;
    for (int position = last; position >= first; position--) {
      live = live << 1 | handles.liveBit(buckets.indexAt(position));
    }
    return live ^ all(first, last);
  }

  private static long all(int first, int last) {
    return -1L >>> (Long.SIZE - 1 - (last - first));
  }

  /** The first bucket in use of a level after the hand's slot, the long way round if need be. */
  private int nextInUse(int firstBucket, int handSlot) {
    int afterHand = firstBucket + handSlot + 1;
    int bucket = buckets.firstInUse(afterHand, firstBucket + slots);
    return bucket == Buckets.NONE ? buckets.firstInUse(firstBucket, afterHand) : bucket;
  }

  /** Whether a bucket has a live timer. Drops the dead from its end until one is there. */
  private boolean hasLive(int bucket) {
    while (!buckets.isEmpty(bucket)) {
      int last = buckets.end(bucket);
      if (handles.isLive(buckets.indexAt(last))) {
        return true;
      }
      int first = buckets.firstPosition(buckets.blockOf(last));
      long live = ~deadMask(first, last) & all(first, last);
      int lastLive = first + Long.SIZE - 1 - Long.numberOfLeadingZeros(live);
      for (int position = last; position > lastLive; position--) {
        free(position);
      }
      buckets.cut(bucket, lastLive);
    }
    return false;
  }

  /** Timers are less than 2^32 ticks ahead of the hand, so the low half of their tick tells it. */
  private long aheadOfHand(int lowTick) {
    return hand + Integer.toUnsignedLong(lowTick - (int) hand);
  }
}
