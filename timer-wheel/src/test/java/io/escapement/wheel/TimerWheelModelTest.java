package io.escapement.wheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A million random operations: the wheel and a sorted map must agree on every answer. */
final class TimerWheelModelTest {
  private static final int OPERATIONS = Integer.getInteger("wheel.operations", 1_000_000);
  private static final int MAX_TIMERS = 400;

  /** Repeat a run with {@code -Dwheel.seed=…}. */
  private static final long SEED =
      Long.getLong("wheel.seed", ThreadLocalRandom.current().nextLong());

  private static final boolean SHRINK = !"false".equals(System.getProperty("wheel.shrink"));

  record Case(int slots, int levels, long tickNanos, long startNanos) {
    WheelScript script() {
      WheelGeometry geometry = new WheelGeometry(tickNanos, slots, levels);
      boolean worn = slots % 3 == 1;
      return new WheelScript(
          geometry,
          MAX_TIMERS,
          startNanos,
          worn ? 0 : -MAX_TIMERS,
          worn ? 100 : Handles.LAST_GENERATION);
    }
  }

  static List<Case> cases() {
    int[][] shapes = {
      {2, 1}, {1, 2}, {1, 1}, {2, 2}, {3, 1}, {3, 3}, {7, 2}, {10, 3}, {16, 8}, {64, 3}, {100, 2},
      {65, 2}, {63, 3}, {256, 4}, {256, 1}, {1000, 3}, {2, 32}, {4096, 2}
    };
    long[][] times = {
      {1, 0},
      {1_000_000, 1_700_000_000_000_000_000L},
      {1_000_000, -5_000_000_123L},
      {3, Long.MIN_VALUE},
      {1 << 20, Long.MAX_VALUE - 2_000_000_000_000L},
    };
    List<Case> cases = new ArrayList<>();
    for (int[] shape : shapes) {
      for (long[] time : times) {
        cases.add(new Case(shape[0], shape[1], time[0], time[1]));
      }
    }
    return cases;
  }

  @ParameterizedTest
  @MethodSource("cases")
  void wheelAndSortedMapAgree(Case shape) {
    long seed = SEED ^ shape.hashCode();
    long[] operations = WheelScript.random(seed, OPERATIONS / cases().size() + 1);
    WheelScript script = shape.script();
    try {
      script.run(operations);
    } catch (Throwable failure) {
      long[] smallest =
          SHRINK ? WheelScript.shrink(operations, part -> fails(shape, part)) : operations;
      fail(
          "%s with -Dwheel.seed=%d; %d operations suffice: %s"
              .formatted(shape, SEED, smallest.length, Arrays.toString(smallest)),
          failure);
    }
    assertThat(script.fired).as("the script must exercise the wheel").isPositive();
    assertThat(script.refused).isPositive();
  }

  @Test
  void shrinkingKeepsWhatMatters() {
    long[] operations = WheelScript.random(1, 1000);
    long[] smallest =
        WheelScript.shrink(
            operations, part -> Arrays.stream(part).filter(o -> o == operations[500]).count() > 0);
    assertThat(smallest).containsExactly(operations[500]);
  }

  private static boolean fails(Case shape, long[] operations) {
    try {
      shape.script().run(operations);
      return false;
    } catch (Throwable failure) {
      return true;
    }
  }
}
