package io.escapement.ledger.bench;

import io.escapement.ledger.LedgerException;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * A lock that every admission must pass: while it is held, records can be produced and processes
 * can get ready, and when it is let go all of them start at one moment.
 *
 * <p>Thread rule: one thread. It must be open again before the waiting sessions' lock timeout.
 */
public final class Gate implements AutoCloseable {

  private final Connection connection;

  private Gate(Connection connection) {
    this.connection = connection;
  }

  static Gate close(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
    BenchSql.run(connection, "gate");
    return new Gate(connection);
  }

  /** How many sessions wait. */
  public long waiting() {
    try {
      return BenchSql.number(connection, "gate_waiting");
    } catch (SQLException e) {
      throw new LedgerException("gate", e);
    }
  }

  /** Opens it. */
  @Override
  public void close() {
    try (connection) {
      connection.rollback();
    } catch (SQLException e) {
      throw new LedgerException("gate", e);
    }
  }
}
