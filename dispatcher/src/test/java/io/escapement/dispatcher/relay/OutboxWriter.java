package io.escapement.dispatcher.relay;

import io.escapement.ledger.TestLedger;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Writes outbox rows on a connection of its own and remembers which events became true. */
final class OutboxWriter implements AutoCloseable {

  private final Connection connection;
  private final String who;
  private final List<String> committed = new CopyOnWriteArrayList<>();
  private final List<String> uncommitted = new CopyOnWriteArrayList<>();
  private long task;

  OutboxWriter(TestLedger ledger, String who) {
    this(open(ledger), who);
  }

  /** A writer that closes this connection with itself. */
  OutboxWriter(Connection connection, String who) {
    this.who = who;
    this.connection = connection;
    try {
      connection.setAutoCommit(false);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Connection open(TestLedger ledger) {
    try {
      return ledger.connection();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Commits one row with so many outcomes, all under this writer's key. */
  long write(int events) {
    long id = insert(events);
    commit();
    return id;
  }

  /** Adds a row to the open transaction. */
  long insert(int events) {
    StringBuilder packed = new StringBuilder();
    for (int i = 0; i < events; i++) {
      packed.append(
          "O\tdone\t%d\t%s\tkey\tt\twork\tlocal\t1\tCOMPLETED\t\\N\n".formatted(++task, who));
    }
    return insert(packed.toString(), events);
  }

  /** Adds a row with this packed text. */
  long insert(String packed, int events) {
    try (PreparedStatement insert =
        connection.prepareStatement(
            "insert into escapement.outbox (events) values (?) returning id")) {
      insert.setString(1, packed);
      try (ResultSet row = insert.executeQuery()) {
        row.next();
        long id = row.getLong(1);
        for (int i = 0; i < events; i++) {
          uncommitted.add(id + "-" + i);
        }
        return id;
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  void commit() {
    try {
      connection.commit();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    committed.addAll(uncommitted);
    uncommitted.clear();
  }

  void rollback() {
    try {
      connection.rollback();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    uncommitted.clear();
  }

  /** The ids of the events that became true, in the order in which they did. */
  List<String> committed() {
    return List.copyOf(committed);
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
