package io.escapement.wheel.bench;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.netty.util.TimerTask;
import java.util.concurrent.TimeUnit;

/**
 * Netty's wheel runs on its own thread by the real clock and can't be driven. What is measured is
 * the caller's side; its thread works on another core at the same time. Deadlines count from the
 * making of the contender.
 */
final class NettyContender extends Contender {
  private final HashedWheelTimer wheel = new HashedWheelTimer(1, TimeUnit.MILLISECONDS, 4096);
  private final Timeout[] timeouts;
  private final long originNanos = System.nanoTime();

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
    public void run(Timeout timeout) {
      checksum += payload;
    }
  }

  @Override
  void schedule(int place, long deadlineNanos) {
    long delayNanos = originNanos + deadlineNanos - System.nanoTime();
    timeouts[place] = wheel.newTimeout(new Timer(place), delayNanos, TimeUnit.NANOSECONDS);
  }

  @Override
  void cancel(int place) {
    timeouts[place].cancel();
  }

  @Override
  int advance(long nowNanos) {
    throw new UnsupportedOperationException("advances by itself");
  }

  @Override
  long size() {
    return wheel.pendingTimeouts();
  }

  @Override
  void close() {
    wheel.stop();
  }
}
