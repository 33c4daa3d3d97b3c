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
 * wheel knows no clock: its time is the latest that {@link #advance} was told, and never runs back.
 *
 * <p><b>Exactness.</b> A timer never fires before its deadline. It fires in the first advance that
 * reaches the end of its tick, so at most one tick late, whatever the geometry and however far time
 * jumps. A timer scheduled at or before the wheel's time fires in the next advance.
 *
 * <p><b>Cost.</b> Schedule and cancel take constant time. Firing takes constant time a timer, and
 * before that a timer is moved at most once for each level but the lowest; finding the next slot in
 * use reads a bit for each slot in between. An advance before the next expiry is two comparisons.
 * Nothing is allocated but to hold more timers than ever before, and memory is kept. A timer takes
 * 20 bytes, and half as much again when the arrays have just grown, plus up to half a kilobyte for
 * each slot in use. A cancelled timer's record is dropped when its slot is emptied or the dead
 * outnumber the living, so that these many bytes are at worst for twice the timers that wait.
 *
 * <p><b>Order.</b> Timers fire tick by tick, those first that were already due when they were
 * scheduled. Within a tick there is no order.
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
 * advance to 481: A fires at 459. B's slot starts at 480: B moves to level 0, slot 3.
 *                 The hand stands at 481.
 * advance to 900: B fires at 483. C's slot starts at 800: C moves to level 1, slot 3.
 *                 That slot starts at 830: C moves to level 0, slot 0, and fires.
 *                 Nothing else is in use: the hand goes straight to 900.
 * }</pre>
 */
public final class TimerWheel {
  /** Answer of {@link #schedule}: too far ahead; schedule it again nearer to its time. */
  public static final long BEYOND_HORIZON = -1;

  /** Answer of {@link #schedule}: as many timers wait as the wheel may hold. */
  public static final long FULL = -2;

  /** The most timers that a wheel can be allowed. */
  public static final int MAX_TIMERS = 1 << 27;

  /** What {@link #nextExpiryLowerBound()} says when no timer waits. */
  public static final long NEVER = Long.MAX_VALUE;

  /** So few cancelled timers are not worth looking for. */
  private static final int DEAD_ALLOWANCE = 1024;

  private static final long ALREADY_DUE = Long.MIN_VALUE;

  private final Ticks ticks;
  private final long spanTicks;
  private final int maxTimers;
  private final Handles handles;
  private final Levels levels;

  /** Up to here everything has fired. */
  private long clockNanos;

  /** When the clock reaches this, the hand lags: it does while nothing is due in between. */
  private long handEndNanos;

  /**
   * No slot has to be emptied before this moment. During an advance or a visit it is the start of
   * time, so that another advance comes to the check that refuses it.
   */
  private long nextEventNanos = NEVER;

  /** A timer was cancelled: the next event may lie later than noted. */
  private boolean nextEventStale;

  private boolean turning;
  private boolean visiting;

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
    this(geometry, maxTimers, startNanos, DEAD_ALLOWANCE, Handles.LAST_GENERATION);
  }

  TimerWheel(
      WheelGeometry geometry,
      int maxTimers,
      long startNanos,
      int deadAllowance,
      int lastGeneration) {
    if (maxTimers < 1 || maxTimers > MAX_TIMERS) {
      throw new IllegalArgumentException(
          "maxTimers must be from 1 to " + MAX_TIMERS + ", not " + maxTimers);
    }
    this.maxTimers = maxTimers;
    ticks = new Ticks(geometry.tickNanos());
    spanTicks = geometry.spanTicks();
    handles = new Handles(lastGeneration);
    levels = new Levels(geometry, ticks, handles, deadAllowance, ticks.atOrBefore(startNanos));
    clockNanos = startNanos;
    handEndNanos = ticks.endNanos(levels.hand());
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
    long hand = levels.hand();
    long tick = ticks.atOrAfter(deadlineNanos);
    boolean due = tick <= hand;
    if (!due && (tick > ticks.last() || Long.compareUnsigned(tick - hand, spanTicks) >= 0)) {
      return BEYOND_HORIZON;
    }
    if (handles.live() == maxTimers) {
      return FULL;
    }
    if (due) {
      nextEventNanos = ALREADY_DUE;
      return levels.addArrival(payload);
    }
    int level = levels.level(tick);
    nextEventNanos = Math.min(nextEventNanos, ticks.startNanos(levels.event(tick, level)));
    return levels.add(tick, level, payload);
  }

  /**
   * Cancels a timer. Constant time.
   *
   * @param handle what {@link #schedule} returned; any other value is safe
   * @return whether a timer was cancelled: false if it has fired, or was cancelled or cleared, or
   *     never was
   */
  public boolean cancel(long handle) {
    if (!handles.kill(handle)) {
      return false;
    }
    nextEventStale = true;
    if (!visiting) {
      levels.sweep();
    }
    return true;
  }

  /**
   * Turns the wheel and fires what is due, at most {@code limit} timers. When that many have fired,
   * the wheel's time stays at the tick of the last, and the next advance goes on from there. A
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
   * @throws IllegalStateException if called by a handler or visitor
   */
  public int advance(long nowNanos, int limit, TimerHandler handler) {
    if (limit < 1) {
      throw new IllegalArgumentException("limit must be at least 1, not " + limit);
    }
    if (nowNanos < nextEventNanos) {
      clockNanos = Math.max(clockNanos, nowNanos);
      return 0;
    }
    if (turning || visiting) {
      throw new IllegalStateException("a handler or visitor must not advance the wheel");
    }
    return turn(nowNanos, limit, Objects.requireNonNull(handler, "handler"));
  }

  /**
   * A moment before which no advance fires anything: a driver may sleep until then, unless a timer
   * is scheduled meanwhile. It is the exact end of the next timer's tick when that timer is on
   * level 0; otherwise it is the moment when the timer moves to a lower level, and an advance to it
   * brings a later bound. One comparison, unless timers were cancelled since; a search, then.
   *
   * @return nanoseconds; {@link #NEVER} if no timer waits; the wheel's time if one is already due.
   *     During an advance or a visit it may be earlier than it would be after
   */
  public long nextExpiryLowerBound() {
    if (nextEventStale && !turning && !visiting) {
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
   *
   * @throws IllegalStateException if called by a visitor
   */
  public void clear() {
    if (visiting) {
      throw new IllegalStateException("a visitor must not clear the wheel");
    }
    levels.clear();
    nextEventNanos = turning ? ALREADY_DUE : NEVER;
  }

  /**
   * Visits the timers that wait, in no order. The visitor may schedule and cancel, but neither
   * advance nor clear: a timer that waits throughout is visited once, one that comes or goes
   * meanwhile at most once. Takes time with the most timers there ever were.
   *
   * @param visitor is told of each timer
   */
  public void forEach(TimerHandler visitor) {
    boolean nested = visiting;
    visiting = true;
    nextEventNanos = ALREADY_DUE;
    try {
      levels.forEach(visitor);
    } finally {
      visiting = nested;
      if (!visiting && !turning) {
        noteNextEvent();
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
    return levels.moves();
  }

  /** The size of the arrays, without their headers. */
  long heapBytes() {
    return handles.heapBytes() + levels.heapBytes();
  }

  /** Records of cancelled timers that have not been dropped. */
  int dead() {
    return handles.dead();
  }

  private int turn(long nowNanos, int limit, TimerHandler handler) {
    if (clockNanos >= handEndNanos) {
      moveHandToClock();
    }
    long target = ticks.atOrBefore(nowNanos);
    if (target < levels.hand()) {
      return 0;
    }
    turning = true;
    nextEventNanos = ALREADY_DUE;
    boolean complete = false;
    try {
      levels.admitArrivals();
      int fired = levels.fire(limit, handler);
      while (fired < limit) {
        long event = levels.nextEvent();
        if (event > target || event == Levels.NEVER) {
          levels.moveHand(target);
          clockNanos = Math.max(clockNanos, nowNanos);
          noteEvent(event);
          complete = true;
          break;
        }
        levels.enter(event);
        fired += levels.fire(limit - fired, handler);
      }
      return fired;
    } finally {
      turning = false;
      handEndNanos = ticks.endNanos(levels.hand());
      if (!complete) {
        clockNanos = Math.max(clockNanos, ticks.startNanos(levels.hand()));
        noteNextEvent();
      }
    }
  }

  private void noteNextEvent() {
    if (levels.hasDue()) {
      nextEventNanos = ALREADY_DUE;
      nextEventStale = false;
    } else {
      noteEvent(levels.nextEvent());
    }
  }

  private void noteEvent(long tick) {
    if (levels.hasArrivals()) {
      nextEventNanos = ALREADY_DUE;
    } else {
      nextEventNanos = tick == Levels.NEVER ? NEVER : ticks.startNanos(tick);
    }
    nextEventStale = false;
  }

  private void moveHandToClock() {
    levels.moveHand(Math.max(levels.hand(), ticks.atOrBefore(clockNanos)));
    handEndNanos = ticks.endNanos(levels.hand());
  }
}
