package io.escapement.wheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;

/**
 * The experiment: 20,000 timers over the whole span of 3 levels of 64 slots; time goes on tick by
 * tick, and about a fifth of them are cancelled on the way.
 */
final class TwentyThousandTimersTest {
  private static final int TIMERS = 20_000;
  private static final int SLOTS = 64;
  private static final int SPAN = SLOTS * SLOTS * SLOTS;
  private static final long SEED =
      Long.getLong("wheel.seed", ThreadLocalRandom.current().nextLong());

  private final TimerWheel wheel = new TimerWheel(new WheelGeometry(1, SLOTS, 3), TIMERS, 0);
  private final int[] dueTicks = new int[TIMERS];

  /** The tick after which a timer is cancelled; the end of the span if it is not. */
  private final int[] cancelTicks = new int[TIMERS];

  private final int[] firedTicks = new int[TIMERS];
  private final int[] timesFired = new int[TIMERS];

  @Test
  void everyTimerFiresAtItsTickUnlessCancelledAndTheMovesAreAsCounted() {
    SplittableRandom random = new SplittableRandom(SEED);
    long[] handles = new long[TIMERS];
    int[][] cancelled = new int[SPAN][];
    int toCancel = 0;
    for (int timer = 0; timer < TIMERS; timer++) {
      dueTicks[timer] = random.nextInt(1, SPAN);
      cancelTicks[timer] = SPAN;
      handles[timer] = wheel.schedule(dueTicks[timer], timer);
      if (random.nextInt(5) == 0) {
        cancelTicks[timer] = random.nextInt(dueTicks[timer]);
        int[] before = cancelled[cancelTicks[timer]];
        cancelled[cancelTicks[timer]] = with(before == null ? new int[0] : before, timer);
        toCancel++;
      }
    }
    for (int tick = 0; tick < SPAN; tick++) {
      int now = tick;
      wheel.advance(now, TIMERS, (payload, due, handle) -> fired((int) payload, due, now));
      int[] cancelNow = cancelled[tick];
      if (cancelNow != null) {
        for (int timer : cancelNow) {
          assertThat(wheel.cancel(handles[timer])).isTrue();
        }
      }
    }

    long moves = 0;
    for (int timer = 0; timer < TIMERS; timer++) {
      boolean spared = cancelTicks[timer] == SPAN;
      assertThat(timesFired[timer]).as("seed %d, timer %d", SEED, timer).isEqualTo(spared ? 1 : 0);
      if (spared) {
        assertThat(firedTicks[timer]).as("seed %d", SEED).isEqualTo(dueTicks[timer]);
      }
      moves += expectedMoves(dueTicks[timer], cancelTicks[timer]);
    }
    assertThat(toCancel).isBetween(TIMERS / 6, TIMERS / 4);
    assertThat(wheel.size()).isZero();
    assertThat(wheel.moves()).as("seed %d", SEED).isEqualTo(moves);
    System.out.printf(
        "20,000 timers, seed %d: %d cancelled, %d moves, %.2f a timer%n",
        SEED, toCancel, moves, (double) moves / TIMERS);
  }

  private void fired(int timer, long due, int now) {
    assertThat(due).isEqualTo(now);
    timesFired[timer]++;
    firedTicks[timer] = now;
  }

  /**
   * From level 2, a timer goes down when its slot of 4,096 ticks starts, to level 1 unless it is
   * due within 64 ticks of that; from level 1, when its slot of 64 ticks starts.
   */
  private static int expectedMoves(int due, int cancelledAfter) {
    int moves = 0;
    int bigSlotStart = due - due % (SLOTS * SLOTS);
    int slotStart = due - due % SLOTS;
    boolean onLevel2 = due / SLOTS >= SLOTS;
    boolean onLevel1 = !onLevel2 && due >= SLOTS;
    if (onLevel2) {
      moves += cancelledAfter >= bigSlotStart ? 1 : 0;
      onLevel1 = due - bigSlotStart >= SLOTS;
    }
    if (onLevel1) {
      moves += cancelledAfter >= slotStart ? 1 : 0;
    }
    return moves;
  }

  private static int[] with(int[] array, int element) {
    int[] longer = Arrays.copyOf(array, array.length + 1);
    longer[array.length] = element;
    return longer;
  }
}
