package io.escapement.ingest;

/** Ingest can't run as configured; the message is one line that names the setting and the cure. */
public final class IngestException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  IngestException(String message) {
    super(message);
  }

  IngestException(String message, Throwable cause) {
    super(message, cause);
  }
}
