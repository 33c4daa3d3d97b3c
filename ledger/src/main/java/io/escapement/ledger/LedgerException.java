package io.escapement.ledger;

import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The ledger could not answer: broken infrastructure or a programmer's error, never an outcome.
 * What the call was to do may or may not have been committed.
 */
public final class LedgerException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Cardinality, data, integrity, program limit; raised by a function; raised by ours. */
  private static final List<String> CONTENT_CLASSES = List.of("21", "22", "23", "54", "P0", "ES");

  private final @Nullable String sqlState;

  public LedgerException(String what, SQLException cause) {
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

  /**
   * Whether the server refused what the call was about (its data, its size, a check), so that the
   * same call will fail again. Everything else is trouble with connection, locks or resources, and
   * the same call may work later.
   */
  public boolean blamesContent() {
    return sqlState != null
        && CONTENT_CLASSES.stream().anyMatch(contentClass -> sqlState.startsWith(contentClass));
  }

  /** Whether the call took longer, or more memory, than it may: a smaller one may work. */
  public boolean blamesSize() {
    return "57014".equals(sqlState) || "55P03".equals(sqlState) || "53200".equals(sqlState);
  }
}
