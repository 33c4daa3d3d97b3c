package io.escapement.wheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class WheelGeometryTest {
  @Test
  void theDefaultCoversAMinuteAheadWithRoom() {
    assertThat(WheelGeometry.DEFAULT.horizonNanos()).isGreaterThan(Duration.ofHours(4).toNanos());
    assertThat(WheelGeometry.DEFAULT.tickNanos()).isEqualTo(Duration.ofMillis(1).toNanos());
  }

  @ParameterizedTest
  @CsvSource({
    "64, 3, 262144",
    "2, 1, 2",
    "1, 2, 1",
    "1, 32, 1",
    "2, 32, 4294967296",
    "256, 4, 4294967296",
    "1048576, 1, 1048576",
    "10, 9, 1000000000"
  })
  void theSpanIsSlotsToThePowerOfLevels(int slots, int levels, long span) {
    assertThat(new WheelGeometry(1, slots, levels).spanTicks()).isEqualTo(span);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 1, 1, tickNanos",
    "-1, 1, 1, tickNanos",
    "1, 0, 1, slotsPerLevel",
    "1, -1, 1, slotsPerLevel",
    "1, 1048577, 1, slotsPerLevel",
    "1, 1, 0, levels",
    "1, 1, -1, levels",
    "1, 1, 33, levels",
    "1, 256, 5, span more than 4294967296",
    "1, 3, 21, span more than 4294967296",
    "1, 1048576, 32, span more than 4294967296"
  })
  void aShapeOutOfBoundsIsRefusedWithTheReason(
      long tickNanos, int slots, int levels, String reason) {
    assertThatThrownBy(() -> new WheelGeometry(tickNanos, slots, levels))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(reason);
  }

  @Test
  void theHorizonIsOneTickShortOfTheSpanAndDoesNotOverflow() {
    assertThat(new WheelGeometry(1000, 64, 3).horizonNanos()).isEqualTo(262_143_000L);
    assertThat(new WheelGeometry(5, 1, 1).horizonNanos()).isZero();
    assertThat(new WheelGeometry(Long.MAX_VALUE, 2, 1).horizonNanos()).isEqualTo(Long.MAX_VALUE);
    assertThat(new WheelGeometry(Long.MAX_VALUE / 3, 2, 2).horizonNanos())
        .isEqualTo(Long.MAX_VALUE / 3 * 3);
    assertThat(new WheelGeometry(Long.MAX_VALUE / 3 + 1, 2, 2).horizonNanos())
        .isEqualTo(Long.MAX_VALUE);
  }
}
