package io.escapement.ledger.bench;

import io.escapement.ledger.LedgerException;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * A transaction that began a while ago and looks at nothing any more: as long as it is open, vacuum
 * must keep what was deleted since.
 *
 * <p>Thread rule: one thread. Failure: {@link LedgerException}.
 */
public final class OldSnapshot implements AutoCloseable {

  private final Connection connection;

  private OldSnapshot(Connection connection) {
    this.connection = connection;
  }

  static OldSnapshot open(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
    connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
    BenchSql.number(connection, "old_snapshot");
    return new OldSnapshot(connection);
  }

  /** Fails if the server has ended it. */
  public void requireOpen() {
    try {
      BenchSql.number(connection, "old_snapshot");
    } catch (SQLException e) {
      throw new LedgerException("the old snapshot is gone", e);
    }
  }

  @Override
  public void close() {
    try (connection) {
      connection.rollback();
    } catch (SQLException e) {
      throw new LedgerException("old snapshot", e);
    }
  }
}
