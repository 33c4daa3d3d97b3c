package io.escapement.assembly;

import org.jspecify.annotations.Nullable;

/** What was asked for can't be done; the message is one line for the person who asked. */
public final class CommandFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final boolean wrongUse;

  private CommandFailure(String message, boolean wrongUse, @Nullable Throwable cause) {
    super(message, cause);
    this.wrongUse = wrongUse;
  }

  public CommandFailure(String message) {
    super(message);
    this.wrongUse = false;
  }

  public CommandFailure(String message, Throwable cause) {
    this(message, false, cause);
  }

  /** The command itself must be changed: an argument of it can't be used. */
  public static CommandFailure wrongUse(String message, @Nullable Throwable cause) {
    return new CommandFailure(message, true, cause);
  }

  /** Whether the command itself must be changed. */
  public boolean isWrongUse() {
    return wrongUse;
  }
}
