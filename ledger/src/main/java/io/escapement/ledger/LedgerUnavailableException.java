package io.escapement.ledger;

/** The ledger can't be used as configured; the message is one line that names setting and cure. */
public final class LedgerUnavailableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  LedgerUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }

  LedgerUnavailableException(String message) {
    super(message);
  }
}
