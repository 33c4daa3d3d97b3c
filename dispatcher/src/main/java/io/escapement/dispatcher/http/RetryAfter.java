package io.escapement.dispatcher.http;

import java.net.http.HttpHeaders;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import org.jspecify.annotations.Nullable;

/**
 * How long an answer asks to wait (RFC 9110, section 10.2.3): seconds, or a date, which is reckoned
 * from the answer's own {@code Date}, so that nobody's clock but the provider's counts.
 */
final class RetryAfter {

  private static final long MOST_SECONDS = Duration.ofDays(7).toSeconds();

  private RetryAfter() {}

  /** What the header says, up to 7 days; null if there is none, or none that can be read. */
  static @Nullable Duration of(HttpHeaders headers) {
    String value = headers.firstValue("Retry-After").orElse("").strip();
    if (value.matches("[0-9]{1,18}")) {
      return Duration.ofSeconds(Math.min(MOST_SECONDS, Long.parseLong(value)));
    }
    ZonedDateTime until = date(value);
    ZonedDateTime from = date(headers.firstValue("Date").orElse(""));
    if (until == null || from == null || until.isBefore(from)) {
      return null;
    }
    return Duration.ofSeconds(Math.min(MOST_SECONDS, Duration.between(from, until).toSeconds()));
  }

  private static @Nullable ZonedDateTime date(String value) {
    try {
      return ZonedDateTime.parse(value.strip(), DateTimeFormatter.RFC_1123_DATE_TIME);
    } catch (DateTimeException e) {
      return null;
    }
  }
}
