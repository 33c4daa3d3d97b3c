package io.escapement.embedded;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A server of the embedded stack can't start; the reason is one that a person can mend. */
public final class EmbeddedStartException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What stands in the way. */
  public enum Reason {
    /** Something else listens on PostgreSQL's port. */
    POSTGRES_PORT_TAKEN,
    /** Something else listens on the broker's port. */
    KAFKA_PORT_TAKEN,
    /** The data directory can't be created or written. */
    DIRECTORY_NOT_WRITABLE,
    /** Another process uses the data directory. */
    DIRECTORY_IN_USE,
    /** The directory's data was written by another version of PostgreSQL. */
    DIRECTORY_OF_OTHER_VERSION,
    /** The servers' jars are not on the class path. */
    SERVERS_LEFT_OUT,
    /** A server started and gave up, or never answered. */
    SERVER_FAILED
  }

  private final Reason reason;

  EmbeddedStartException(Reason reason, String message) {
    this(reason, message, null);
  }

  EmbeddedStartException(Reason reason, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  static EmbeddedStartException notWritable(Path directory, Exception cause) {
    return new EmbeddedStartException(
        Reason.DIRECTORY_NOT_WRITABLE, directory + " can't be written: " + cause, cause);
  }

  /** What stands in the way. */
  public Reason reason() {
    return reason;
  }
}
