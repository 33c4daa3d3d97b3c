package io.escapement.ledger;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * The ledger could not answer: broken infrastructure or a programmer's error, never an outcome.
 * What the call was to do may or may not have been committed.
 */
public final class LedgerException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final @Nullable String sqlState;

  LedgerException(String what, SQLException cause) {
    super(what + ": " + cause.getMessage(), cause);
    this.sqlState = cause.getSQLState();
  }

  LedgerException(String what) {
    super(what);
    this.sqlState = null;
  }

  /** PostgreSQL's error code; null if the failure did not come from a statement. */
  public @Nullable String sqlState() {
    return sqlState;
  }

  /** Whether the same call may work when it is made again: connection, lock or resource trouble. */
  public boolean isTransient() {
    return sqlState != null
        && (sqlState.startsWith("08")
            || sqlState.startsWith("40")
            || sqlState.startsWith("53")
            || sqlState.startsWith("55")
            || sqlState.startsWith("57"));
  }
}
