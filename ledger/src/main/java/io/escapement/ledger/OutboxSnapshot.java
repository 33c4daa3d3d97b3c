package io.escapement.ledger;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;

/**
 * The outbox as it was at the very point where a new slot's stream begins: a row is either here or
 * will be streamed, never both, never neither.
 *
 * <p>Cost: one transaction that stays open until it is closed, a bounded number of rows in memory.
 * Thread rule: one thread. Failure: {@link LedgerException}; the slot then exists and nobody knows
 * what was sent, so it has to be created again.
 */
public final class OutboxSnapshot implements AutoCloseable {

  private final Connection connection;
  private final PreparedStatement statement;
  private final ResultSet rows;
  private final Lsn consistentPoint;

  OutboxSnapshot(Connection connection, Lsn consistentPoint, int fetchSize) throws SQLException {
    this.connection = connection;
    this.consistentPoint = consistentPoint;
    this.statement = connection.prepareStatement(Statements.load("relay_outbox"));
    statement.setFetchSize(fetchSize);
    this.rows = statement.executeQuery();
  }

  /** Everything committed up to here is in the snapshot; everything later will be streamed. */
  public Lsn consistentPoint() {
    return consistentPoint;
  }

  /** The next rows by id, at most a limit; empty at the end. */
  public List<OutboxEntry> next(int limit) {
    try {
      List<OutboxEntry> page = new ArrayList<>();
      while (page.size() < limit && rows.next()) {
        page.add(
            new OutboxEntry(
                rows.getLong(1),
                rows.getObject(2, OffsetDateTime.class).toInstant(),
                rows.getString(3)));
      }
      return page;
    } catch (SQLException e) {
      throw new LedgerException("reading the outbox", e);
    }
  }

  @Override
  public void close() {
    try (connection;
        statement;
        rows) {
      connection.rollback();
    } catch (SQLException e) {
      throw new LedgerException("closing the outbox's snapshot", e);
    }
  }
}
