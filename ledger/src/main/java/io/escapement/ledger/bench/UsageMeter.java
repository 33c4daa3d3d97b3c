package io.escapement.ledger.bench;

import io.escapement.ledger.LedgerException;
import io.escapement.ledger.Role;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * Tells what a ledger's database has been asked for so far. It asks the server in a database of its
 * own, so that its questions are not counted among the answers.
 *
 * <p>Cost: a database and a connection for as long as it is open. Thread rule: one thread. Failure:
 * {@link LedgerException}; the server must have loaded {@code pg_stat_statements}.
 */
public final class UsageMeter implements AutoCloseable {

  /**
   * Counts since some moment; only differences mean something.
   *
   * @param statements that sessions of the role have sent
   * @param buffers that anybody has looked at in the database, found in memory or read; a session
   *     tells of its own at most ten seconds later
   */
  public record Usage(long statements, long buffers) {}

  private final BenchDatabase own;
  private final Connection connection;
  private final String role;
  private final String metered;

  private UsageMeter(BenchDatabase own, Connection connection, String role, String metered) {
    this.own = own;
    this.connection = connection;
    this.role = role;
    this.metered = metered;
  }

  static UsageMeter open(BenchDatabase own, Role role, String metered) {
    try {
      Connection connection = BenchSql.connect(own.config());
      BenchSql.run(connection, "create_statements");
      return new UsageMeter(own, connection, role.sqlName(), metered);
    } catch (SQLException e) {
      own.close();
      throw new LedgerException("pg_stat_statements", e);
    }
  }

  /** Everything so far. */
  public Usage read() {
    try (PreparedStatement ask = connection.prepareStatement(BenchSql.load("usage"))) {
      ask.setString(1, role);
      ask.setString(2, metered);
      try (ResultSet row = ask.executeQuery()) {
        row.next();
        return new Usage(row.getLong(1), row.getLong(2));
      }
    } catch (SQLException e) {
      throw new LedgerException(
          "statements can't be counted; the server needs pg_stat_statements in"
              + " shared_preload_libraries",
          e);
    }
  }

  @Override
  public void close() {
    try (own) {
      connection.close();
    } catch (SQLException e) {
      throw new LedgerException("usage", e);
    }
  }
}
