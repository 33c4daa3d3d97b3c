package io.escapement.wheel.bench;

import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * The JDK's binary heap. Removing from its middle takes linear time, so cancelled timers are only
 * marked, and swept when they outnumber the others.
 */
final class PriorityQueueContender extends Contender {
  private static final int MIN_SWEEP = 1000;

  private static final class Timer implements Comparable<Timer> {
    final long deadlineNanos;
    final long payload;
    boolean cancelled;

    Timer(long deadlineNanos, long payload) {
      this.deadlineNanos = deadlineNanos;
      this.payload = payload;
    }

    @Override
    public int compareTo(Timer other) {
      return Long.compare(deadlineNanos, other.deadlineNanos);
    }
  }

  private final PriorityQueue<Timer> queue = new PriorityQueue<>();
  private final Timer[] timers;
  private int marked;

  PriorityQueueContender(int places) {
    timers = new Timer[places];
  }

  @Override
  void schedule(int place, long deadlineNanos) {
    Timer timer = new Timer(deadlineNanos, place);
    timers[place] = timer;
    queue.add(timer);
  }

  @Override
  void cancel(int place) {
    timers[place].cancelled = true;
    if (++marked > MIN_SWEEP && marked > queue.size() / 2) {
      queue.removeIf(timer -> timer.cancelled);
      marked = 0;
    }
  }

  @Override
  int advance(long nowNanos) {
    int fired = 0;
    for (Timer timer = first(); timer != null && timer.deadlineNanos <= nowNanos; timer = first()) {
      queue.poll();
      checksum += timer.payload;
      fired++;
    }
    return fired;
  }

  @Override
  long nextExpiryNanos() {
    Timer timer = first();
    return timer == null ? Long.MAX_VALUE : timer.deadlineNanos;
  }

  @Override
  long size() {
    return (long) queue.size() - marked;
  }

  private @Nullable Timer first() {
    Timer timer = queue.peek();
    while (timer != null && timer.cancelled) {
      queue.poll();
      marked--;
      timer = queue.peek();
    }
    return timer;
  }

  @Override
  Object handles() {
    return timers;
  }
}
