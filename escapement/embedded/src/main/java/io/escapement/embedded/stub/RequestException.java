package io.escapement.embedded.stub;

/** A request that the stub itself can't serve, whatever the script says; one line tells why. */
final class RequestException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int status;

  RequestException(int status, String line) {
    super(line);
    this.status = status;
  }

  int status() {
    return status;
  }

  String line() {
    return String.valueOf(getMessage());
  }
}
