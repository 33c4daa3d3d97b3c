package io.escapement.wheel;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class TimerWheelMemoryTest {
  private static final long TICK_NANOS = WheelGeometry.DEFAULT.tickNanos();
  private static final TimerHandler NOTHING = (payload, dueNanos, handle) -> {};

  @Test
  void aTimerTakesAtMost40BytesFromHundredThousandUpwards() {
    TimerWheel wheel = new TimerWheel(WheelGeometry.DEFAULT, TimerWheel.MAX_TIMERS, 0);
    SplittableRandom random = new SplittableRandom(1);
    double most = 0;
    for (int count = 1; count <= 1_000_000; count++) {
      wheel.schedule(random.nextLong(WheelGeometry.DEFAULT.horizonNanos()), count);
      if (count >= 100_000) {
        most = Math.max(most, (double) wheel.heapBytes() / count);
      }
    }
    assertThat(most).isLessThanOrEqualTo(40);
    assertThat(wheel.heapBytes() / 1e6).isLessThanOrEqualTo(40);
  }

  @Test
  void nothingIsAllocatedInSteadyState() {
    TimerWheel wheel = new TimerWheel(WheelGeometry.DEFAULT, 10_000, 0);
    long[] handles = new long[1000];
    churn(wheel, handles, 200_000);

    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    churn(wheel, handles, 200_000);
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    // Asking costs a little itself; one object an operation would be millions.
    assertThat(allocated).isLessThan(10_000);
  }

  @Test
  void cancelledTimersDoNotOutnumberTheOthersByMuch() {
    TimerWheel wheel = new TimerWheel(WheelGeometry.DEFAULT, 10_000, 0);
    for (int i = 0; i < 100; i++) {
      wheel.schedule(3_600_000L * TICK_NANOS, i);
    }
    int mostDead = 0;
    for (int i = 0; i < 1_000_000; i++) {
      wheel.cancel(wheel.schedule((1 + i % 3_600_000L) * TICK_NANOS, i));
      mostDead = Math.max(mostDead, wheel.dead());
    }
    assertThat(mostDead).isLessThan(3000);
    assertThat(wheel.heapBytes()).isLessThan(2_000_000);
    assertThat(wheel.size()).isEqualTo(100);
    assertThat(wheel.advance(3_600_000L * TICK_NANOS, 1000, NOTHING)).isEqualTo(100);
  }

  @Test
  void aSweepDropsTheDeadAndSparesTheLiving() {
    TimerWheel wheel = new TimerWheel(new WheelGeometry(1, 64, 3), 10_000, 0, 0, 1 << 20);
    long[] handles = new long[5000];
    for (int i = 0; i < handles.length; i++) {
      handles[i] = wheel.schedule(1 + i * 50L, i);
    }
    boolean swept = false;
    for (int i = 0; i < handles.length; i++) {
      if (i % 10 != 0) {
        int before = wheel.dead();
        assertThat(wheel.cancel(handles[i])).isTrue();
        swept |= wheel.dead() < before;
      }
    }
    assertThat(swept).isTrue();
    long[] sum = new long[1];
    assertThat(wheel.advance(250_000, 10_000, (payload, due, handle) -> sum[0] += payload))
        .isEqualTo(500);
    assertThat(sum[0]).isEqualTo(10L * 499 * 500 / 2);
    assertThat(wheel.dead()).isZero();
  }

  /** Schedules, cancels half, and lets time go on. */
  private static void churn(TimerWheel wheel, long[] handles, int operations) {
    SplittableRandom random = new SplittableRandom(2);
    long now =
        Math.max(
            0, wheel.nextExpiryLowerBound() == TimerWheel.NEVER ? 0 : wheel.nextExpiryLowerBound());
    for (int i = 0; i < operations; i++) {
      int place = i % handles.length;
      wheel.cancel(handles[place]);
      handles[place] = wheel.schedule(now + random.nextLong(2000 * TICK_NANOS), i);
      now += TICK_NANOS;
      wheel.advance(now, 1 << 20, NOTHING);
    }
  }
}
