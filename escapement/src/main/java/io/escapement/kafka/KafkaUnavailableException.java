package io.escapement.kafka;

import org.jspecify.annotations.Nullable;

/** Kafka can't be used as configured; the message is one line that names setting and cure. */
public final class KafkaUnavailableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  KafkaUnavailableException(String message) {
    this(message, null);
  }

  KafkaUnavailableException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
