package io.escapement.wheel.bench;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.netty.util.TimerTask;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Netty's wheel runs on its own thread by the real clock and cannot be driven. Deadlines are
 * brought nearer so that a horizon passes in little time, and its thread works beside the measured
 * one on another core.
 *
 * <p>To measure firing, the thread is held at a gate until every deadline has passed. To measure
 * the mixed load, the horizon is made as long as the load takes to pass through it.
 */
final class NettyContender extends Contender {
  /** With this many virtual seconds to a real one, a horizon passes in half a second. */
  private static final int FAST = 128;

  private final HashedWheelTimer wheel = new HashedWheelTimer(1, TimeUnit.MILLISECONDS, 4096);
  private final Timeout[] timeouts;
  private final CountDownLatch gate = new CountDownLatch(1);
  private final long originNanos = System.nanoTime();
  private int scheduled;
  private long virtualNanos;
  private double speed = 1;
  private volatile int fired;

  NettyContender(int places) {
    timeouts = new Timeout[places];
    wheel.start();
  }

  private final class Timer implements TimerTask {
    private final long payload;

    Timer(long payload) {
      this.payload = payload;
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // Only the wheel's thread writes it.
    public void run(Timeout timeout) {
      checksum += payload;
      fired++;
    }
  }

  @Override
  void schedule(int place, long deadlineNanos) {
    long delayNanos = (long) ((deadlineNanos - virtualNanos) / speed);
    scheduled++;
    timeouts[place] = wheel.newTimeout(new Timer(place), delayNanos, TimeUnit.NANOSECONDS);
  }

  @Override
  void cancel(int place) {
    timeouts[place].cancel();
  }

  /** Closes the gate. */
  @Override
  void beforeFill() {
    speed = FAST;
    wheel.newTimeout(timeout -> gate.await(), 0, TimeUnit.NANOSECONDS);
  }

  @Override
  void afterFill() {
    long endNanos = System.nanoTime() + HORIZON_NANOS / FAST;
    while (System.nanoTime() < endNanos) {
      LockSupport.parkNanos(endNanos - System.nanoTime());
    }
  }

  @Override
  int fireAll() {
    gate.countDown();
    while (fired < scheduled) {
      Thread.onSpinWait();
    }
    return fired;
  }

  /** It advances by itself: what is learnt here is how fast the load goes. */
  @Override
  int advance(long nowNanos) {
    virtualNanos = nowNanos;
    speed = (double) nowNanos / (System.nanoTime() - originNanos);
    return 0;
  }

  @Override
  long size() {
    return wheel.pendingTimeouts();
  }

  @Override
  Object handles() {
    return timeouts;
  }

  @Override
  void close() {
    gate.countDown();
    wheel.stop();
  }
}
