package org.apache.kafka.server.util.timer;

import java.util.PriorityQueue;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.NullMarked;

/**
 * What Kafka's {@code SystemTimer} does, by a virtual clock and without its lock and its executor:
 * buckets wait in a queue until their time, then their tasks run or go to a lower wheel. In Kafka's
 * package because the wheel's constructor is.
 */
@NullMarked
public final class KafkaWheelDriver {
  /** Buckets by expiration, not by the real clock. */
  private static final class VirtualDelayQueue extends DelayQueue<TimerTaskList> {
    private final PriorityQueue<TimerTaskList> buckets = new PriorityQueue<>();

    @Override
    public boolean offer(TimerTaskList bucket) {
      return buckets.offer(bucket);
    }
  }

  private final AtomicInteger count = new AtomicInteger();
  private final VirtualDelayQueue queue = new VirtualDelayQueue();
  private final TimingWheel wheel;
  private int fired;

  public KafkaWheelDriver(int wheelSize) {
    wheel = new TimingWheel(1, wheelSize, 0, count, queue);
  }

  public void add(TimerTask task, long expirationMs) {
    addEntry(new TimerTaskEntry(task, expirationMs));
  }

  public int advanceClock(long nowMs) {
    fired = 0;
    for (TimerTaskList bucket = queue.buckets.peek();
        bucket != null && bucket.getExpiration() <= nowMs;
        bucket = queue.buckets.peek()) {
      queue.buckets.poll();
      wheel.advanceClock(bucket.getExpiration());
      bucket.flush(this::addEntry);
    }
    return fired;
  }

  public long nextExpirationMs() {
    TimerTaskList bucket = queue.buckets.peek();
    return bucket == null ? Long.MAX_VALUE : bucket.getExpiration();
  }

  public int size() {
    return count.get();
  }

  private void addEntry(TimerTaskEntry entry) {
    if (!wheel.add(entry) && !entry.cancelled()) {
      fired++;
      entry.timerTask.run();
    }
  }
}
