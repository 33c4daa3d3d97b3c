package io.escapement.wheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What a wheel promises, done with a sorted map, in exact arithmetic and without thought of speed.
 */
final class SortedMapModel {
  /** A timer that waits. Its tick is that of its deadline, or the hand's if that had passed. */
  static final class Timer {
    final long payload;
    final long deadlineNanos;
    long tick;
    private int place;

    private Timer(long payload, long deadlineNanos, long tick, int place) {
      this.payload = payload;
      this.deadlineNanos = deadlineNanos;
      this.tick = tick;
      this.place = place;
    }
  }

  private final long tickNanos;
  private final int slots;
  private final BigInteger span;
  private final int maxTimers;
  private final Map<Long, Timer> timers = new HashMap<>();
  private final List<Long> handles = new ArrayList<>();
  private final TreeMap<Long, TreeSet<Long>> byTick = new TreeMap<>();
  private final TreeSet<Long> alreadyDue = new TreeSet<>();
  private long hand;
  private long clockNanos;

  SortedMapModel(WheelGeometry geometry, int maxTimers, long startNanos) {
    tickNanos = geometry.tickNanos();
    slots = geometry.slotsPerLevel();
    span = BigInteger.valueOf(geometry.slotsPerLevel()).pow(geometry.levels());
    this.maxTimers = maxTimers;
    clockNanos = startNanos;
    hand = Math.floorDiv(startNanos, tickNanos);
  }

  /** What scheduling must answer if it is to be refused; 0 if it must give a handle. */
  long refusal(long deadlineNanos) {
    BigInteger tick = tickOf(deadlineNanos);
    BigInteger ahead = tick.subtract(BigInteger.valueOf(hand));
    BigInteger end = tick.multiply(BigInteger.valueOf(tickNanos));
    boolean never = end.compareTo(BigInteger.valueOf(Long.MAX_VALUE)) >= 0;
    if (ahead.signum() > 0 && (never || ahead.compareTo(span) >= 0)) {
      return TimerWheel.BEYOND_HORIZON;
    }
    return timers.size() == maxTimers ? TimerWheel.FULL : 0;
  }

  void scheduled(long handle, long deadlineNanos, long payload) {
    long tick = tickOf(deadlineNanos).max(BigInteger.valueOf(hand)).longValueExact();
    Timer timer = new Timer(payload, deadlineNanos, tick, handles.size());
    assertThat(timers.put(handle, timer)).as("a handle was issued twice").isNull();
    handles.add(handle);
    if (tick == hand) {
      alreadyDue.add(handle);
    } else {
      byTick.computeIfAbsent(tick, ignored -> new TreeSet<>()).add(handle);
    }
  }

  boolean cancel(long handle) {
    Timer timer = timers.get(handle);
    if (timer == null) {
      return false;
    }
    forget(handle, timer);
    return true;
  }

  void clear() {
    timers.clear();
    handles.clear();
    byTick.clear();
    alreadyDue.clear();
  }

  /** False if the moment lies before the wheel's time, and nothing may happen. */
  boolean beginAdvance(long nowNanos) {
    if (Math.floorDiv(nowNanos, tickNanos) < hand) {
      return false;
    }
    for (long handle : alreadyDue) {
      timer(handle).tick = hand;
      byTick.computeIfAbsent(hand, ignored -> new TreeSet<>()).add(handle);
    }
    alreadyDue.clear();
    return true;
  }

  void fired(long handle, long payload, long dueNanos, long nowNanos) {
    assertThat(byTick).as("fired, but nothing waits").isNotEmpty();
    assertThat(byTick.firstEntry().getValue()).as("fired out of turn").contains(handle);
    hand = byTick.firstKey();
    Timer timer = timer(handle);
    assertThat(payload).isEqualTo(timer.payload);
    assertThat(dueNanos).isEqualTo(startOf(hand));
    assertThat(timer.deadlineNanos).as("fired early").isLessThanOrEqualTo(nowNanos);
    forget(handle, timer);
  }

  void endAdvance(long nowNanos, boolean cut) {
    if (!cut) {
      hand = Math.floorDiv(nowNanos, tickNanos);
      clockNanos = Math.max(clockNanos, nowNanos);
      assertThat(byTick.headMap(hand, true)).as("missed").isEmpty();
    }
    clockNanos = Math.max(clockNanos, startOf(hand));
  }

  /** When the next timer is due; the wheel's time if one is already. */
  long nextExpiryNanos() {
    if (!alreadyDue.isEmpty() || byTick.containsKey(hand)) {
      return clockNanos;
    }
    return byTick.isEmpty() ? TimerWheel.NEVER : startOf(byTick.firstKey());
  }

  /**
   * Whether the next timer, if there is one, is so near that a wheel must know the exact moment.
   */
  boolean nextExpiryIsExact() {
    return !alreadyDue.isEmpty()
        || byTick.isEmpty()
        || Math.floorDiv(byTick.firstKey(), slots) == Math.floorDiv(hand, slots);
  }

  long clockNanos() {
    return clockNanos;
  }

  Set<Long> handles() {
    return timers.keySet();
  }

  Timer timer(long handle) {
    return Objects.requireNonNull(timers.get(handle));
  }

  int size() {
    return timers.size();
  }

  long handleAt(int place) {
    return handles.get(place);
  }

  long handNanos() {
    return startOf(hand);
  }

  /** When a timer is due, as the wheel tells it. */
  long dueNanos(long handle) {
    return startOf(alreadyDue.contains(handle) ? hand : timer(handle).tick);
  }

  private void forget(long handle, Timer timer) {
    timers.remove(handle);
    long last = handles.removeLast();
    if (last != handle) {
      handles.set(timer.place, last);
      timer(last).place = timer.place;
    }
    if (!alreadyDue.remove(handle)) {
      TreeSet<Long> sameTick = Objects.requireNonNull(byTick.get(timer.tick));
      sameTick.remove(handle);
      if (sameTick.isEmpty()) {
        byTick.remove(timer.tick);
      }
    }
  }

  private long startOf(long tick) {
    BigInteger nanos = BigInteger.valueOf(tick).multiply(BigInteger.valueOf(tickNanos));
    return nanos.max(BigInteger.valueOf(Long.MIN_VALUE)).longValueExact();
  }

  private BigInteger tickOf(long deadlineNanos) {
    BigInteger[] parts =
        BigInteger.valueOf(deadlineNanos).divideAndRemainder(BigInteger.valueOf(tickNanos));
    return parts[1].signum() > 0 ? parts[0].add(BigInteger.ONE) : parts[0];
  }
}
