package io.escapement.wheel.bench;

import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The JDK's scheduled executor, its queue driven by this thread in place of a worker, so that it
 * runs in virtual time and nobody waits for anybody. Deadlines are put a day ahead of the real
 * clock to keep their order and never fire by themselves.
 */
final class ExecutorContender extends Contender {
  private static final long DAY_NANOS = TimeUnit.DAYS.toNanos(1);

  private final ScheduledThreadPoolExecutor executor =
      new ScheduledThreadPoolExecutor(1, ignored -> new Thread(() -> {}));
  private final ScheduledFuture<?>[] futures;
  private final long originNanos = System.nanoTime() + DAY_NANOS;

  ExecutorContender(int places) {
    executor.setRemoveOnCancelPolicy(true);
    futures = new ScheduledFuture<?>[places];
  }

  private final class Timer implements Runnable {
    private final long payload;

    Timer(long payload) {
      this.payload = payload;
    }

    @Override
    public void run() {
      checksum += payload;
    }
  }

  @Override
  void schedule(int place, long deadlineNanos) {
    long delayNanos = originNanos + deadlineNanos - System.nanoTime();
    futures[place] = executor.schedule(new Timer(place), delayNanos, TimeUnit.NANOSECONDS);
  }

  @Override
  void cancel(int place) {
    futures[place].cancel(false);
  }

  @Override
  int advance(long nowNanos) {
    int fired = 0;
    for (Runnable head = executor.getQueue().peek();
        head != null && deadlineNanos(head) <= nowNanos;
        head = executor.getQueue().peek()) {
      executor.getQueue().remove(head);
      head.run();
      fired++;
    }
    return fired;
  }

  @Override
  long nextExpiryNanos() {
    Runnable head = executor.getQueue().peek();
    return head == null ? Long.MAX_VALUE : deadlineNanos(head);
  }

  @Override
  long size() {
    return executor.getQueue().size();
  }

  @Override
  void close() {
    executor.shutdownNow();
  }

  private long deadlineNanos(Runnable head) {
    long delayNanos = ((ScheduledFuture<?>) head).getDelay(TimeUnit.NANOSECONDS);
    return System.nanoTime() + delayNanos - originNanos;
  }

  @Override
  Object handles() {
    return futures;
  }
}
