package io.escapement.ledger;

import static org.awaitility.Awaitility.await;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/**
 * A line in a database that processes cross together: a lock that the test holds until all of them
 * wait for it. It can be used again once all have crossed it.
 */
final class StartLine implements AutoCloseable {

  private static final String KEY = "(1, 1)";
  private static final String WAITING =
      "select count(*) from pg_locks where locktype = 'advisory' and not granted"
          + " and classid = 1 and objid = 1"
          + " and database = (select oid from pg_database where datname = current_database())";

  private final Connection holder;

  StartLine(Connection holder) {
    this.holder = holder;
  }

  /** Nobody crosses from now on. */
  void draw() throws SQLException {
    run(holder, "select pg_advisory_lock" + KEY);
  }

  /** Waits until so many wait at the line, then lets them all go. */
  void startWhenWaiting(int processes) throws SQLException {
    try {
      await()
          .pollInterval(Duration.ofMillis(1))
          .pollDelay(Duration.ZERO)
          .atMost(ChildProcess.PATIENCE)
          .until(() -> waiting() == processes);
    } finally {
      run(holder, "select pg_advisory_unlock" + KEY);
    }
  }

  private int waiting() throws SQLException {
    try (Statement s = holder.createStatement();
        ResultSet row = s.executeQuery(WAITING)) {
      row.next();
      return row.getInt(1);
    }
  }

  /** Waits at the line; in the child. */
  static void cross(Connection connection) throws SQLException {
    run(connection, "select pg_advisory_lock_shared" + KEY);
    run(connection, "select pg_advisory_unlock_shared" + KEY);
  }

  private static void run(Connection connection, String sql) throws SQLException {
    try (Statement s = connection.createStatement()) {
      s.execute(sql);
    }
  }

  @Override
  public void close() throws SQLException {
    holder.close();
  }
}
