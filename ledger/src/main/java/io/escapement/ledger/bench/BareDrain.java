package io.escapement.ledger.bench;

import io.escapement.ledger.LedgerException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * What a dispatcher is measured against: due tasks claimed by one connection, a batch a
 * transaction, and ended with an effect each in a second one, and nothing else. It reads no intent,
 * runs nothing, writes no attempt, gives no seat back and tells nobody.
 *
 * <p>Ordering: that of the index, not of the due times. Thread rule: one thread. Failure: {@link
 * LedgerException}.
 */
public final class BareDrain implements AutoCloseable {

  private final Connection connection;
  private final PreparedStatement claim;
  private final PreparedStatement complete;

  BareDrain(Connection connection) throws SQLException {
    this.connection = connection;
    this.claim = connection.prepareStatement(BenchSql.load("bare_claim"));
    this.complete = connection.prepareStatement(BenchSql.load("bare_complete"));
  }

  /** Claims and ends so many due tasks; answers how many there were. */
  public int commit(int batch) {
    try {
      List<Long> ids = new ArrayList<>();
      claim.setInt(1, batch);
      try (ResultSet row = claim.executeQuery()) {
        while (row.next()) {
          ids.add(row.getLong(1));
        }
      }
      complete.setArray(1, connection.createArrayOf("int8", ids.toArray()));
      return complete.executeUpdate();
    } catch (SQLException e) {
      throw new LedgerException("bare drain", e);
    }
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (SQLException e) {
      throw new LedgerException("bare drain", e);
    }
  }
}
