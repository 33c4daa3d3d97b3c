package io.escapement.wheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A handle names one timer, once. */
final class TimerWheelHandleTest {
  private static final TimerHandler NOTHING = (payload, dueNanos, handle) -> {};

  private final TimerWheel wheel = new TimerWheel(new WheelGeometry(1, 64, 3), 1000, 0);

  @Test
  void aTimerIsCancelledOnce() {
    long handle = wheel.schedule(10, 1);
    assertThat(wheel.cancel(handle)).isTrue();
    assertThat(wheel.cancel(handle)).isFalse();
    assertThat(wheel.advance(100, 10, NOTHING)).isZero();
  }

  @Test
  void theHandleOfAFiredTimerIsStaleEvenInItsHandler() {
    long scheduled = wheel.schedule(10, 1);
    wheel.advance(
        10,
        10,
        (payload, dueNanos, handle) -> {
          assertThat(handle).isEqualTo(scheduled);
          assertThat(wheel.cancel(handle)).isFalse();
        });
    assertThat(wheel.cancel(scheduled)).isFalse();
  }

  @Test
  void aStaleHandleDoesNotCancelTheNextTimerInItsPlace() {
    long stale = wheel.schedule(10, 1);
    wheel.advance(10, 10, NOTHING);
    long fresh = wheel.schedule(20, 2);
    assertThat((int) fresh).as("the same index is used again").isEqualTo((int) stale);
    assertThat(wheel.cancel(stale)).isFalse();
    assertThat(wheel.size()).isEqualTo(1);
    assertThat(wheel.cancel(fresh)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      longs = {
        0,
        1,
        TimerWheel.BEYOND_HORIZON,
        TimerWheel.FULL,
        Long.MAX_VALUE,
        Long.MIN_VALUE,
        1L << 32 | 0x8000_0000L,
        1L << 32 | 1,
        2L << 32,
        3L << 32,
        (1L << 32) - 1,
        1L << 32 | 63,
        1L << 32 | 64,
        1L << 32 | 1_000_000
      })
  void whatIsNoHandleCancelsNothing(long noHandle) {
    long handle = wheel.schedule(10, 1);
    assertThat(handle).isEqualTo(1L << 32);
    assertThat(wheel.cancel(noHandle)).isFalse();
    assertThat(wheel.size()).isEqualTo(1);
    assertThat(wheel.cancel(handle)).isTrue();
    assertThat(wheel.cancel(noHandle)).isFalse();
  }

  @Test
  void anIndexWhoseGenerationsAreUsedUpIsRetired() {
    TimerWheel worn = new TimerWheel(new WheelGeometry(1, 64, 3), 10, 0, 0, 4);
    Set<Long> handles = new HashSet<>();
    for (int i = 0; i < 1000; i++) {
      long handle = worn.schedule(i + 1, i);
      assertThat(handles.add(handle)).as("issued for the first time").isTrue();
      assertThat(worn.size()).isEqualTo(1);
      if (i % 2 == 0) {
        assertThat(worn.cancel(handle)).isTrue();
      }
      assertThat(worn.advance(i + 1, 10, NOTHING)).isEqualTo(i % 2);
      assertThat(worn.size()).isZero();
    }
    assertThat(handles).noneMatch(worn::cancel);
    assertThat(handles.stream().map(Long::intValue).distinct()).hasSize(500);
  }
}
