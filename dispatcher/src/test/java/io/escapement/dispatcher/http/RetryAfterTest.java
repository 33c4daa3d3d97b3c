package io.escapement.dispatcher.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpHeaders;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RetryAfterTest {

  private static final String NOON = "Sun, 06 Nov 1994 12:00:00 GMT";

  @Test
  void secondsAreSeconds() {
    assertThat(of("120", NOON)).isEqualTo(Duration.ofMinutes(2));
    assertThat(of("0", NOON)).isEqualTo(Duration.ZERO);
    assertThat(of("99999999999", NOON)).isEqualTo(Duration.ofDays(7));
  }

  @Test
  void aDateCountsFromTheAnswersOwn() {
    assertThat(of("Sun, 06 Nov 1994 12:01:30 GMT", NOON)).isEqualTo(Duration.ofSeconds(90));
    assertThat(of("Sun, 06 Nov 1994 11:00:00 GMT", NOON)).isNull();
    assertThat(of("Sun, 06 Nov 1994 12:01:30 GMT", null)).isNull();
  }

  @Test
  void whatCannotBeReadAsksForNothing() {
    assertThat(of("soon", NOON)).isNull();
    assertThat(of("-5", NOON)).isNull();
    assertThat(of("", NOON)).isNull();
  }

  private static @Nullable Duration of(String retryAfter, @Nullable String date) {
    Map<String, List<String>> headers =
        date == null
            ? Map.of("Retry-After", List.of(retryAfter))
            : Map.of("Retry-After", List.of(retryAfter), "Date", List.of(date));
    return RetryAfter.of(HttpHeaders.of(headers, (name, value) -> true));
  }
}
