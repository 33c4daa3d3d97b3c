package io.escapement.ledger.bench;

import io.escapement.ledger.LedgerException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * Commits outbox rows, one a transaction, as every function of the protocol does.
 *
 * <p>Thread rule: one thread. Failure: {@link LedgerException}.
 */
public final class OutboxWriter implements AutoCloseable {

  private final Connection connection;
  private final PreparedStatement insert;

  OutboxWriter(Connection connection) throws SQLException {
    this.connection = connection;
    this.insert = connection.prepareStatement(BenchSql.load("outbox"));
  }

  /** Commits one row; returns when the server says that it is durable. */
  public void commit(String events) {
    try {
      insert.setString(1, events);
      insert.executeUpdate();
    } catch (SQLException e) {
      throw new LedgerException("outbox", e);
    }
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (SQLException e) {
      throw new LedgerException("outbox", e);
    }
  }
}
