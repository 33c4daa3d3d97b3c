package io.escapement.dispatcher;

/** The dispatcher can't run as configured; the message is one line that names what and the cure. */
public final class DispatcherException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public DispatcherException(String message) {
    super(message);
  }

  public DispatcherException(String message, Throwable cause) {
    super(message, cause);
  }
}
