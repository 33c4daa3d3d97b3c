package io.escapement.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class DatabaseClockTest {

  private static final Instant NOON = Instant.parse("2026-06-01T12:00:00Z");
  private final DatabaseClock clock = new DatabaseClock();

  @Test
  void itIsNeverAheadAndBehindByAtMostTheRoundTrip() {
    // The database read its clock somewhere between 1,000 and 1,400.
    clock.read(NOON, 1_000, 1_400);
    long shown = clock.nanosAt(2_000);
    long latestTruth = DatabaseClock.epochNanos(NOON) + (2_000 - 1_000);
    long earliestTruth = DatabaseClock.epochNanos(NOON) + (2_000 - 1_400);
    assertThat(shown).isLessThanOrEqualTo(earliestTruth);
    assertThat(latestTruth - shown).isLessThanOrEqualTo(clock.errorNanos());
  }

  @Test
  void theQuickestOfTheRecentReadingsCountsAndOldOnesAreForgotten() {
    clock.read(NOON, 0, 10);
    clock.read(NOON, 0, 5_000);
    assertThat(clock.errorNanos()).isEqualTo(10);
    for (int i = 0; i < 8; i++) {
      clock.read(NOON, 0, 700);
    }
    assertThat(clock.errorNanos()).isEqualTo(700);
  }

  @Test
  void aReadingOfAnotherClockMakesTheEarlierOnesForgotten() {
    long second = 1_000_000_000L;
    for (int step : new int[] {600, -600}) {
      DatabaseClock failed = new DatabaseClock();
      for (int i = 0; i < 8; i++) {
        failed.read(NOON.plusSeconds(i), i * second, i * second + 1_000);
      }
      // Slower than all before: it would not count if it were of the same clock.
      failed.read(NOON.plusSeconds(8 + step), 8 * second, 8 * second + 5_000_000);
      assertThat(failed.nanosAt(8 * second + 5_000_000))
          .isEqualTo(DatabaseClock.epochNanos(NOON.plusSeconds(8 + step)));
    }
  }

  @Test
  void aClockThatIsSlewedIsStillTheSameOne() {
    long second = 1_000_000_000L;
    clock.read(NOON, 0, 1_000);
    // Half a thousandth fast over twenty seconds: ten milliseconds ahead.
    clock.read(NOON.plusMillis(20_010), 20 * second, 20 * second + 3_000);
    assertThat(clock.errorNanos()).as("the quicker reading still counts").isEqualTo(1_000);
  }

  @Test
  void withoutAReadingItSaysSo() {
    assertThatThrownBy(() -> clock.nanosAt(0)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void instantsAndNanosecondsConvertBothWays() {
    Instant before = Instant.parse("1969-12-31T23:59:59.123456789Z");
    assertThat(DatabaseClock.instant(DatabaseClock.epochNanos(before))).isEqualTo(before);
  }
}
