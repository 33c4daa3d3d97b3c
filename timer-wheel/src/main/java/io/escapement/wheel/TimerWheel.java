package io.escapement.wheel;

import java.util.Objects;

/**
 * Timers by the million: a hierarchical timing wheel.
 *
 * <p>Schedule a {@code long} payload at a deadline, cancel it by its handle, and turn the wheel to
 * the present moment to be told of what is due. The algorithm is scheme 7 of Varghese and Lauck,
 * <i>Hashed and Hierarchical Timing Wheels</i> (SOSP 1987; IEEE/ACM Transactions on Networking
 * 5(6), 1997), with bits that say which slots are in use, so that time may jump without every tick
 * being looked at.
 *
 * <p><b>Time.</b> Deadlines and moments are nanoseconds on one straight line of the caller's
 * choice: since an epoch, or {@link System#nanoTime()}. Negative values are nothing special. The
 * line does not wrap; {@link Long#MAX_VALUE} means never, which is always beyond the horizon. The
 * wheel knows no clock: its time is what {@link #advance} was told last, and never runs back.
 *
 * <p><b>Exactness.</b> A timer never fires before its deadline. It fires in the first advance to
 * the end of its tick or later, so at most one tick late, whatever the geometry and however far
 * time jumps. A timer scheduled at or before the wheel's time fires in the next advance.
 *
 * <p><b>Cost.</b> Schedule and cancel take constant time. Firing takes constant time a timer, and
 * before that a timer is moved at most once for each level but the lowest. Finding the next slot in
 * use reads a bit for each slot in between. An advance before the next expiry is one comparison. A
 * million timers take 25 to 37 bytes each, depending on when the arrays last grew; nothing is
 * allocated except to hold more timers than ever before, and memory is kept.
 *
 * <p><b>Order.</b> Timers fire tick by tick, those already due when they were scheduled first.
 * Within a tick there is no order.
 *
 * <p><b>Threads.</b> None but the owner's. Other threads go through a {@link TimerHandoff}.
 *
 * <p><b>Failure.</b> What a caller must expect is answered, not thrown: {@link #BEYOND_HORIZON},
 * {@link #FULL}, false from {@link #cancel}. An exception from a handler ends the advance; the
 * timer that it was told of is gone, the others stay and fire in the next one.
 *
 * <p><b>Example.</b> Ticks of 1 ms, 10 slots, 3 levels; the hand at 457; timers A, B, C due at 459,
 * 483, 830 ms.
 *
 * <pre>{@code
 *            slot  0    1    2    3    4    5    6    7    8    9
 * level 2 (100 ms)                     hand                C
 * level 1 (10 ms)                           hand           B
 * level 0 (1 ms)                                      hand      A
 *
 * advance to 481: A fires at 459. B's slot starts at 480, so B moves to level 0, slot 3. The hand stands at 481.
 * advance to 900: B fires at 483. C's slot starts at 800, so C moves to level 1, slot 3; that slot starts at 830,
 *                 so C moves to level 0, slot 0, and fires. Nothing else is in use: the hand goes straight to 900.
 * }</pre>
 */
public final class TimerWheel {
  /**
   * Answer of {@link #schedule}: the deadline is too far ahead; schedule it again nearer to its
   * time.
   */
  public static final long BEYOND_HORIZON = -1;

  /** Answer of {@link #schedule}: as many timers wait as the wheel may hold. */
  public static final long FULL = -2;

  /** The most timers that a wheel can be allowed. */
  public static final int MAX_TIMERS = 1 << 28;

  /** What {@link #nextExpiryLowerBound()} says when no timer waits. */
  public static final long NEVER = Long.MAX_VALUE;

  private static final long ALREADY_DUE = Long.MIN_VALUE;

  private final long tickNanos;
  private final int slots;
  private final int levels;
  private final long spanTicks;
  private final int maxTimers;
  private final long firstTick;
  private final long lastTick;
  private final TickDigits digits;
  private final Handles handles;
  private final Buckets buckets;

  /** The bucket after those of the slots: timers that were already due, until the next advance. */
  private final int arrivals;

  /** Up to here everything has fired. */
  private long clockNanos;

  /**
   * The tick that placement is relative to. It may lag behind the clock while nothing is due in
   * between.
   */
  private long hand;

  /** When the clock reaches this, the hand lags. */
  private long handEndNanos;

  /** No slot has to be emptied before this moment. */
  private long nextEventNanos = NEVER;

  /** A slot was emptied by cancelling: the next event may lie later than noted. */
  private boolean nextEventStale;

  private boolean turning;
  private long moves;

  /**
   * Makes an empty wheel.
   *
   * @param geometry tick length, slots and levels
   * @param maxTimers how many timers may wait at once, from 1 to {@link #MAX_TIMERS}; memory grows
   *     with use, not with this
   * @param startNanos the wheel's time at first
   * @throws IllegalArgumentException if {@code maxTimers} is out of bounds
   */
  public TimerWheel(WheelGeometry geometry, int maxTimers, long startNanos) {
    this(geometry, maxTimers, startNanos, new Handles(Integer.MAX_VALUE));
  }

  TimerWheel(WheelGeometry geometry, int maxTimers, long startNanos, Handles handles) {
    if (maxTimers < 1 || maxTimers > MAX_TIMERS) {
      throw new IllegalArgumentException(
          "maxTimers must be from 1 to " + MAX_TIMERS + ", not " + maxTimers);
    }
    this.maxTimers = maxTimers;
    this.handles = handles;
    tickNanos = geometry.tickNanos();
    slots = geometry.slotsPerLevel();
    levels = geometry.levels();
    spanTicks = geometry.spanTicks();
    firstTick = Math.floorDiv(Long.MIN_VALUE, tickNanos);
    lastTick = (Long.MAX_VALUE - 1) / tickNanos;
    digits = new TickDigits(geometry);
    arrivals = levels * slots;
    buckets = new Buckets(arrivals + 1);
    clockNanos = startNanos;
    hand = Math.floorDiv(startNanos, tickNanos);
    moveHandTo(hand);
  }

  /**
   * Schedules a timer. Constant time.
   *
   * @param deadlineNanos when it is due
   * @param payload what the handler is to be told
   * @return a handle, positive; or {@link #BEYOND_HORIZON} or {@link #FULL}, negative, and nothing
   *     was scheduled
   */
  public long schedule(long deadlineNanos, long payload) {
    if (clockNanos >= handEndNanos) {
      moveHandToClock();
    }
    long tick = Math.ceilDiv(deadlineNanos, tickNanos);
    if (tick <= hand) {
      return add(arrivals, hand, payload, ALREADY_DUE);
    }
    if (tick > lastTick || Long.compareUnsigned(tick - hand, spanTicks) >= 0) {
      return BEYOND_HORIZON;
    }
    int level = digits.level(tick, hand);
    return add(
        level * slots + digits.slot(tick, level),
        tick,
        payload,
        digits.slotStart(tick, level) * tickNanos);
  }

  /**
   * Cancels a timer. Constant time.
   *
   * @param handle what {@link #schedule} returned; any other value is safe
   * @return whether a timer was cancelled: false if it has fired, or was cancelled or cleared, or
   *     never was
   */
  public boolean cancel(long handle) {
    int position = handles.positionOf(handle);
    if (position < 0) {
      return false;
    }
    handles.release((int) handle);
    int bucket = buckets.ownerOf(position);
    int moved = buckets.remove(bucket, position);
    if (moved >= 0) {
      handles.place(moved, position);
    }
    nextEventStale |= buckets.isEmpty(bucket);
    return true;
  }

  /**
   * Turns the wheel and fires what is due, at most {@code limit} timers. If the limit cut it short,
   * the wheel's time stays at the tick where it was cut, and the next advance goes on from there. A
   * moment before the wheel's time does nothing.
   *
   * <p>The handler may schedule, cancel, clear and look. What it schedules at or before the tick
   * that is firing fires in the next advance; what it schedules after, but not after {@code
   * nowNanos}, in this one.
   *
   * @param nowNanos the present moment
   * @param limit the most timers to fire, at least 1
   * @param handler is told of each timer
   * @return how many fired; if fewer than {@code limit}, nothing that is due is left
   * @throws IllegalArgumentException if {@code limit} is less than 1
   * @throws IllegalStateException if called by the handler of an advance
   */
  public int advance(long nowNanos, int limit, TimerHandler handler) {
    if (limit < 1) {
      throw new IllegalArgumentException("limit must be at least 1, not " + limit);
    }
    if (nowNanos < nextEventNanos) {
      clockNanos = Math.max(clockNanos, nowNanos);
      return 0;
    }
    Objects.requireNonNull(handler, "handler");
    if (turning) {
      throw new IllegalStateException(
          "the wheel is already turning: a handler must not advance it");
    }
    return turn(nowNanos, limit, handler);
  }

  /**
   * A moment before which no advance fires anything: a driver may sleep until then, unless a timer
   * is scheduled meanwhile. It is the exact end of the next timer's tick when that timer is on
   * level 0; otherwise it is the moment when the timer moves to a lower level, and an advance to it
   * brings a later bound. One comparison, unless timers were cancelled since.
   *
   * @return nanoseconds; {@link #NEVER} if no timer waits; not after the wheel's time if one is
   *     already due
   */
  public long nextExpiryLowerBound() {
    if (nextEventStale && !turning) {
      noteNextEvent();
    }
    return Math.max(nextEventNanos, clockNanos);
  }

  /**
   * How many timers wait.
   *
   * @return from 0 to the most allowed
   */
  public int size() {
    return handles.live();
  }

  /**
   * Cancels all timers; every handle is stale then. Takes time with the most timers there ever
   * were. Memory is kept.
   */
  public void clear() {
    handles.releaseAll();
    buckets.clear();
    nextEventNanos = turning ? ALREADY_DUE : NEVER;
  }

  /**
   * Visits the timers that wait, in no order. The visitor may schedule and cancel: a timer that
   * waits throughout is visited once, one that comes or goes meanwhile at most once. Takes time
   * with the most timers there ever were.
   *
   * @param visitor is told of each timer
   */
  public void forEach(TimerHandler visitor) {
    for (int index = 0; index < handles.everUsed(); index++) {
      int position = handles.positionAt(index);
      if (position >= 0) {
        long tick =
            buckets.ownerOf(position) == arrivals ? hand : aheadOfHand(buckets.lowTickAt(position));
        visitor.onTimer(buckets.payloadAt(position), startOf(tick), handles.handleAt(index));
      }
    }
  }

  /**
   * How often a timer was moved from one level to a lower one since the wheel was made: what the
   * hierarchy costs.
   *
   * @return a count that only grows
   */
  public long moves() {
    return moves;
  }

  /** The size of the arrays, without their headers. */
  long heapBytes() {
    return handles.heapBytes() + buckets.heapBytes();
  }

  private long add(int bucket, long tick, long payload, long eventNanos) {
    if (handles.live() == maxTimers) {
      return FULL;
    }
    nextEventNanos = Math.min(nextEventNanos, eventNanos);
    int index = handles.acquire();
    return handles.place(index, buckets.push(bucket, tick, index, payload));
  }

  private int turn(long nowNanos, int limit, TimerHandler handler) {
    moveHandToClock();
    long target = Math.floorDiv(nowNanos, tickNanos);
    if (target < hand) {
      return 0;
    }
    turning = true;
    nextEventNanos = ALREADY_DUE;
    try {
      redistribute(arrivals);
      int fired = fireAtHand(limit, handler);
      while (fired < limit) {
        int bucket = nextBucketInUse();
        if (bucket == Buckets.NONE || startTick(bucket) > target) {
          hand = target;
          clockNanos = Math.max(clockNanos, nowNanos);
          break;
        }
        hand = startTick(bucket);
        if (bucket >= slots) {
          moves += redistribute(bucket);
        }
        fired += fireAtHand(limit - fired, handler);
      }
      return fired;
    } finally {
      turning = false;
      clockNanos = Math.max(clockNanos, startOf(hand));
      moveHandTo(hand);
      noteNextEvent();
    }
  }

  private int fireAtHand(int limit, TimerHandler handler) {
    int bucket = digits.slot(hand, 0);
    long dueNanos = startOf(hand);
    int fired = 0;
    while (fired < limit && !buckets.isEmpty(bucket)) {
      int position = buckets.end(bucket);
      int index = buckets.indexAt(position);
      long payload = buckets.payloadAt(position);
      long handle = handles.handleAt(index);
      buckets.pop(bucket);
      handles.release(index);
      fired++;
      handler.onTimer(payload, dueNanos, handle);
    }
    return fired;
  }

  /** Puts each timer of a bucket where it belongs, seen from the hand; how many they were. */
  private int redistribute(int bucket) {
    int moved = 0;
    for (int end = buckets.end(bucket); end >= 0; end = buckets.end(bucket)) {
      int index = buckets.indexAt(end);
      long payload = buckets.payloadAt(end);
      long tick = bucket == arrivals ? hand : aheadOfHand(buckets.lowTickAt(end));
      buckets.pop(bucket);
      int level = digits.level(tick, hand);
      int lower = level * slots + digits.slot(tick, level);
      handles.place(index, buckets.push(lower, tick, index, payload));
      moved++;
    }
    return moved;
  }

  private void noteNextEvent() {
    boolean due = !buckets.isEmpty(arrivals) || !buckets.isEmpty(digits.slot(hand, 0));
    if (due) {
      nextEventNanos = ALREADY_DUE;
    } else {
      int bucket = nextBucketInUse();
      nextEventNanos = bucket == Buckets.NONE ? NEVER : startTick(bucket) * tickNanos;
    }
    nextEventStale = false;
  }

  /**
   * The bucket that must be emptied next, if the hand's own is empty. Lower levels come before
   * higher ones.
   */
  private int nextBucketInUse() {
    int first = 0;
    int afterHand = 0;
    for (int level = 0; level < levels; level++) {
      first = level * slots;
      afterHand = first + digits.slot(hand, level) + 1;
      int next = buckets.firstInUse(afterHand, first + slots);
      if (next != Buckets.NONE) {
        return next;
      }
    }
    return buckets.firstInUse(first, afterHand);
  }

  /**
   * When a bucket that is not the hand's own will be emptied. A slot not after the hand's belongs
   * to the next turn.
   */
  private long startTick(int bucket) {
    int level = bucket / slots;
    int slotsLater = bucket % slots - digits.slot(hand, level);
    return digits.slotStart(hand, level, slotsLater > 0 ? slotsLater : slotsLater + slots);
  }

  /** Timers are less than 2^32 ticks ahead of the hand, so the low half of their tick tells it. */
  private long aheadOfHand(int lowTick) {
    return hand + Integer.toUnsignedLong(lowTick - (int) hand);
  }

  private long startOf(long tick) {
    return tick == firstTick ? Long.MIN_VALUE : tick * tickNanos;
  }

  private void moveHandToClock() {
    moveHandTo(Math.max(hand, Math.floorDiv(clockNanos, tickNanos)));
  }

  private void moveHandTo(long tick) {
    hand = tick;
    handEndNanos = tick >= lastTick ? Long.MAX_VALUE : (tick + 1) * tickNanos;
  }
}
