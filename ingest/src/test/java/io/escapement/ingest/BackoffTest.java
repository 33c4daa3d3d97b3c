package io.escapement.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class BackoffTest {

  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1_000);
  private final Backoff backoff =
      new Backoff(Duration.ofMillis(100), Duration.ofSeconds(5), nanos::get);

  @Test
  void theWaitDoublesUpToTheCap() {
    for (long millis : new long[] {100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000}) {
      assertThat(backoff.failed()).isEqualTo(Duration.ofMillis(millis));
    }
    for (int i = 0; i < 1_000; i++) {
      assertThat(backoff.failed()).isEqualTo(Duration.ofSeconds(5));
    }
  }

  @Test
  void whatRemainsShrinksWithTime() {
    assertThat(backoff.remaining()).isZero();
    backoff.failed();
    advance(Duration.ofMillis(40));
    assertThat(backoff.remaining()).isEqualTo(Duration.ofMillis(60));
    advance(Duration.ofMillis(60));
    assertThat(backoff.remaining()).isZero();
    assertThat(backoff.failing()).isTrue();
  }

  @Test
  void aSuccessStartsAnew() {
    backoff.failed();
    backoff.failed();
    backoff.succeeded();
    assertThat(backoff.failing()).isFalse();
    assertThat(backoff.remaining()).isZero();
    assertThat(backoff.failed()).isEqualTo(Duration.ofMillis(100));
  }

  @Test
  void onlyALongQuietTimeIsForgiven() {
    backoff.failed();
    advance(Duration.ofSeconds(10));
    backoff.quiet();
    assertThat(backoff.failing()).isTrue();
    advance(Duration.ofMillis(1));
    backoff.quiet();
    assertThat(backoff.failing()).isFalse();
  }

  private void advance(Duration by) {
    nanos.addAndGet(by.toNanos());
  }
}
