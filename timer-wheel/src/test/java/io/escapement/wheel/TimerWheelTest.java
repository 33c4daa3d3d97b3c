package io.escapement.wheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class TimerWheelTest {
  private static final int ALL = Integer.MAX_VALUE;

  private final List<Long> fired = new ArrayList<>();
  private final List<Long> due = new ArrayList<>();
  private final TimerHandler handler =
      (payload, dueNanos, handle) -> {
        fired.add(payload);
        due.add(dueNanos);
      };

  /** Ticks of one nanosecond. */
  private static TimerWheel wheel(int slots, int levels, long startNanos) {
    return new TimerWheel(new WheelGeometry(1, slots, levels), 1000, startNanos);
  }

  @Test
  void theExampleOfTheClassCommentGoesAsItSays() {
    TimerWheel wheel = wheel(10, 3, 457);
    wheel.schedule(459, 'A');
    wheel.schedule(483, 'B');
    wheel.schedule(830, 'C');

    assertThat(wheel.nextExpiryLowerBound()).isEqualTo(459);
    assertThat(wheel.advance(481, ALL, handler)).isEqualTo(1);
    assertThat(due).containsExactly(459L);
    assertThat(wheel.moves()).isEqualTo(1);
    assertThat(wheel.nextExpiryLowerBound()).isEqualTo(483);

    assertThat(wheel.advance(900, ALL, handler)).isEqualTo(2);
    assertThat(fired).containsExactly((long) 'A', (long) 'B', (long) 'C');
    assertThat(due).containsExactly(459L, 483L, 830L);
    assertThat(wheel.moves()).isEqualTo(3);
    assertThat(wheel.nextExpiryLowerBound()).isEqualTo(TimerWheel.NEVER);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, 457, -262_144, 1_000_000_007, Long.MIN_VALUE + 1})
  void threeLevelsOf64SlotsReach262143TicksAhead(long start) {
    TimerWheel wheel = wheel(64, 3, start);
    assertThat(wheel.schedule(start + 262_143, 1)).isPositive();
    assertThat(wheel.schedule(start + 262_144, 2)).isEqualTo(TimerWheel.BEYOND_HORIZON);
    assertThat(wheel.size()).isEqualTo(1);
    assertThat(wheel.advance(start + 262_142, ALL, handler)).isZero();
    assertThat(wheel.advance(start + 262_143, ALL, handler)).isEqualTo(1);
  }

  @Test
  void theHorizonMovesWithTheWheelsTime() {
    TimerWheel wheel = wheel(64, 3, 0);
    assertThat(wheel.schedule(262_144, 1)).isEqualTo(TimerWheel.BEYOND_HORIZON);
    wheel.advance(1, ALL, handler);
    assertThat(wheel.schedule(262_144, 1)).isPositive();
  }

  @Test
  void deadlinesAreRoundedUpToTheTick() {
    TimerWheel wheel = new TimerWheel(new WheelGeometry(1000, 8, 2), 10, 0);
    wheel.schedule(1, 1);
    wheel.schedule(1000, 2);
    wheel.schedule(1001, 3);
    assertThat(wheel.nextExpiryLowerBound()).isEqualTo(1000);
    assertThat(wheel.advance(999, ALL, handler)).isZero();
    assertThat(wheel.advance(1999, ALL, handler)).isEqualTo(2);
    assertThat(fired).containsExactlyInAnyOrder(1L, 2L);
    assertThat(wheel.advance(2000, ALL, handler)).isEqualTo(1);
    assertThat(due).containsExactly(1000L, 1000L, 2000L);
  }

  @Test
  void whatIsAlreadyDueFiresAtTheNextAdvanceAndNotBeforeIt() {
    TimerWheel wheel = wheel(64, 3, 100);
    wheel.schedule(100, 1);
    wheel.schedule(99, 2);
    wheel.schedule(Long.MIN_VALUE, 3);
    assertThat(wheel.size()).isEqualTo(3);
    assertThat(wheel.nextExpiryLowerBound()).isEqualTo(100);
    assertThat(wheel.advance(100, ALL, handler)).isEqualTo(3);
    assertThat(fired).containsExactlyInAnyOrder(1L, 2L, 3L);
    assertThat(due).containsOnly(100L);
  }

  @Test
  void oneSlotTakesOnlyWhatIsAlreadyDue() {
    TimerWheel wheel = wheel(1, 2, 7);
    assertThat(wheel.schedule(8, 1)).isEqualTo(TimerWheel.BEYOND_HORIZON);
    assertThat(wheel.schedule(7, 2)).isPositive();
    assertThat(wheel.advance(1_000_000, ALL, handler)).isEqualTo(1);
    assertThat(wheel.schedule(1_000_001, 3)).isEqualTo(TimerWheel.BEYOND_HORIZON);
    assertThat(wheel.schedule(1_000_000, 4)).isPositive();
    assertThat(wheel.advance(1_000_000, ALL, handler)).isEqualTo(1);
    assertThat(fired).containsExactly(2L, 4L);
  }

  @Test
  void neverIsBeyondTheHorizonHoweverNear() {
    TimerWheel nanos = wheel(64, 3, Long.MAX_VALUE - 1);
    assertThat(nanos.schedule(Long.MAX_VALUE, 1)).isEqualTo(TimerWheel.BEYOND_HORIZON);
    TimerWheel millis =
        new TimerWheel(new WheelGeometry(1_000_000, 64, 3), 10, Long.MAX_VALUE - 10_000_000);
    assertThat(millis.schedule(Long.MAX_VALUE, 1)).isEqualTo(TimerWheel.BEYOND_HORIZON);
    assertThat(millis.schedule(Long.MAX_VALUE - 1, 1)).isEqualTo(TimerWheel.BEYOND_HORIZON);
    assertThat(millis.size()).isZero();
  }

  @Test
  void theEndOfTimeCanBeReached() {
    TimerWheel wheel = wheel(64, 3, Long.MAX_VALUE - 3);
    assertThat(wheel.schedule(Long.MAX_VALUE - 1, 1)).isPositive();
    assertThat(wheel.advance(Long.MAX_VALUE, ALL, handler)).isEqualTo(1);
    assertThat(wheel.advance(Long.MAX_VALUE, ALL, handler)).isZero();
    assertThat(wheel.schedule(0, 2)).isPositive();
    assertThat(wheel.advance(Long.MAX_VALUE, ALL, handler)).isEqualTo(1);
    assertThat(fired).containsExactly(1L, 2L);
  }

  @Test
  void aDifferenceThatOverflowsIsBeyondTheHorizonAndNotInThePast() {
    TimerWheel wheel = wheel(64, 3, Long.MIN_VALUE);
    assertThat(wheel.schedule(Long.MAX_VALUE - 1, 1)).isEqualTo(TimerWheel.BEYOND_HORIZON);
    assertThat(wheel.schedule(0, 1)).isEqualTo(TimerWheel.BEYOND_HORIZON);
    assertThat(wheel.schedule(Long.MIN_VALUE + 5, 1)).isPositive();
    assertThat(wheel.advance(Long.MAX_VALUE, ALL, handler)).isEqualTo(1);
    assertThat(due).containsExactly(Long.MIN_VALUE + 5);
  }

  @ParameterizedTest
  @CsvSource({"64, 3", "256, 4", "7, 3", "2, 1"})
  void aJumpOfCenturiesFiresEverythingInOrder(int slots, int levels) {
    WheelGeometry geometry = new WheelGeometry(1_000_000, slots, levels);
    TimerWheel wheel = new TimerWheel(geometry, 1000, -TimeUnit.DAYS.toNanos(50_000));
    long start = -TimeUnit.DAYS.toNanos(50_000);
    long span = Math.min(geometry.spanTicks(), 1_000_000);
    for (long i = 0; i < 100; i++) {
      wheel.schedule(start + (span - 1) * 1_000_000 / 100 * (100 - i), i);
    }
    assertThat(wheel.advance(TimeUnit.DAYS.toNanos(50_000), ALL, handler)).isEqualTo(100);
    assertThat(due).isSorted();
    assertThat(wheel.advance(TimeUnit.DAYS.toNanos(50_001), ALL, handler)).isZero();
  }

  @Test
  void timeDoesNotRunBack() {
    TimerWheel wheel = wheel(64, 3, 0);
    wheel.schedule(150, 1);
    wheel.advance(100, ALL, handler);
    wheel.schedule(90, 2);
    assertThat(wheel.advance(80, ALL, handler)).isZero();
    assertThat(wheel.advance(Long.MIN_VALUE, ALL, handler)).isZero();
    assertThat(wheel.nextExpiryLowerBound()).isEqualTo(100);
    assertThat(wheel.advance(100, ALL, handler)).isEqualTo(1);
    assertThat(fired).containsExactly(2L);
  }

  @Test
  void aFullWheelSaysSoUntilATimerGoes() {
    TimerWheel wheel = new TimerWheel(WheelGeometry.DEFAULT, 2, 0);
    long first = wheel.schedule(5, 1);
    wheel.schedule(5, 2);
    assertThat(wheel.schedule(5, 3)).isEqualTo(TimerWheel.FULL);
    assertThat(wheel.schedule(-5, 3)).isEqualTo(TimerWheel.FULL);
    assertThat(wheel.schedule(Long.MAX_VALUE, 3)).isEqualTo(TimerWheel.BEYOND_HORIZON);
    assertThat(wheel.size()).isEqualTo(2);
    wheel.cancel(first);
    assertThat(wheel.schedule(5, 3)).isPositive();
    assertThat(wheel.schedule(5, 4)).isEqualTo(TimerWheel.FULL);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, TimerWheel.MAX_TIMERS + 1, Integer.MIN_VALUE})
  void boundsOutOfBoundsAreRefused(int maxTimers) {
    assertThatThrownBy(() -> new TimerWheel(WheelGeometry.DEFAULT, maxTimers, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("maxTimers must be from 1 to");
    assertThat(new TimerWheel(WheelGeometry.DEFAULT, 1, 0).size()).isZero();
    assertThat(new TimerWheel(WheelGeometry.DEFAULT, TimerWheel.MAX_TIMERS, 0).size()).isZero();
  }

  @Test
  void theLimitCutsAnAdvanceAndTheNextGoesOn() {
    TimerWheel wheel = wheel(64, 3, 0);
    for (int i = 1; i <= 10; i++) {
      wheel.schedule(i / 4 * 1000L + 500, i);
    }
    assertThat(wheel.advance(10_000, 4, handler)).isEqualTo(4);
    assertThat(due).containsExactly(500L, 500L, 500L, 1500L);
    assertThat(wheel.nextExpiryLowerBound()).isEqualTo(1500);
    assertThat(wheel.schedule(1501, 100)).isPositive();
    assertThat(wheel.advance(10_000, 5, handler)).isEqualTo(5);
    assertThat(due.subList(4, 9)).containsExactly(1500L, 1500L, 1500L, 1501L, 2500L);
    assertThat(wheel.advance(10_000, 5, handler)).isEqualTo(2);
    assertThat(wheel.size()).isZero();
  }

  @Test
  void aCutAdvanceGoesNoFurtherThanItIsTold() {
    TimerWheel wheel = wheel(64, 3, 0);
    wheel.schedule(10, 1);
    wheel.schedule(20, 2);
    wheel.schedule(30, 3);
    assertThat(wheel.advance(100, 1, handler)).isEqualTo(1);
    assertThat(wheel.advance(25, ALL, handler)).isEqualTo(1);
    assertThat(fired).containsExactly(1L, 2L);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
  void aLimitBelowOneIsRefused(int limit) {
    TimerWheel wheel = wheel(64, 3, 0);
    assertThatThrownBy(() -> wheel.advance(1, limit, handler))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("limit must be at least 1");
  }

  @Test
  void sizeCountsWhatWaits() {
    TimerWheel wheel = wheel(4, 3, 0);
    long first = wheel.schedule(1, 1);
    wheel.schedule(20, 2);
    wheel.schedule(-1, 3);
    assertThat(wheel.size()).isEqualTo(3);
    wheel.cancel(first);
    assertThat(wheel.size()).isEqualTo(2);
    wheel.advance(10, ALL, handler);
    assertThat(wheel.size()).isEqualTo(1);
    wheel.clear();
    assertThat(wheel.size()).isZero();
  }

  @Test
  void afterClearingTheWheelIsAsGoodAsNew() {
    TimerWheel wheel = wheel(4, 3, 0);
    List<Long> handles = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      handles.add(wheel.schedule(i % 60, i));
    }
    wheel.cancel(handles.get(7));
    wheel.clear();
    assertThat(wheel.nextExpiryLowerBound()).isEqualTo(TimerWheel.NEVER);
    assertThat(handles).noneMatch(wheel::cancel);
    assertThat(wheel.advance(5, ALL, handler)).isZero();
    for (int i = 0; i < 300; i++) {
      assertThat(wheel.schedule(10 + i % 50, i)).isNotIn(handles);
    }
    assertThat(wheel.advance(100, ALL, handler)).isEqualTo(300);
  }

  @Test
  void theBoundIsExactForTheNearAndMovesAsTheFarComesNearer() {
    TimerWheel wheel = wheel(10, 3, 5);
    wheel.schedule(999, 1);
    List<Long> wakes = new ArrayList<>();
    while (fired.isEmpty()) {
      wakes.add(wheel.nextExpiryLowerBound());
      wheel.advance(wheel.nextExpiryLowerBound(), ALL, handler);
    }
    assertThat(wakes).containsExactly(900L, 990L, 999L);
  }

  @Test
  void cancelledTimersWakeNobody() {
    TimerWheel wheel = wheel(10, 3, 5);
    long near = wheel.schedule(7, 1);
    long sameSlot = wheel.schedule(57, 2);
    wheel.schedule(58, 3);
    long far = wheel.schedule(777, 4);
    long past = wheel.schedule(0, 5);
    assertThat(wheel.nextExpiryLowerBound()).isEqualTo(5);
    wheel.cancel(past);
    assertThat(wheel.nextExpiryLowerBound()).isEqualTo(7);
    wheel.cancel(near);
    assertThat(wheel.nextExpiryLowerBound()).isEqualTo(50);
    wheel.cancel(sameSlot);
    assertThat(wheel.nextExpiryLowerBound()).isEqualTo(50);
    wheel.advance(50, ALL, handler);
    assertThat(wheel.nextExpiryLowerBound()).isEqualTo(58);
    wheel.advance(58, ALL, handler);
    assertThat(wheel.nextExpiryLowerBound()).isEqualTo(700);
    wheel.cancel(far);
    assertThat(wheel.nextExpiryLowerBound()).isEqualTo(TimerWheel.NEVER);
    assertThat(wheel.advance(10_000, ALL, handler)).isZero();
    assertThat(fired).containsExactly(3L);
  }
}
