package io.escapement.dispatcher.relay;

import org.jspecify.annotations.Nullable;

/**
 * The relay can't start, or can't go on for now; the message is one line that says what is wrong
 * and, where it can be known, which setting to change.
 */
public final class RelayFailedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  RelayFailedException(String message) {
    super(message);
  }

  RelayFailedException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
