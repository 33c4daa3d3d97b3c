package io.escapement.embedded.stub;

import org.jspecify.annotations.Nullable;

/** The stub can't start; the message is one line with the cause and the cure. */
public final class StubStartException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final boolean wrongUse;

  StubStartException(String message, boolean wrongUse, @Nullable Throwable cause) {
    super(message, cause);
    this.wrongUse = wrongUse;
  }

  /** Whether an argument must be changed, wherever it is started. */
  public boolean isWrongUse() {
    return wrongUse;
  }
}
