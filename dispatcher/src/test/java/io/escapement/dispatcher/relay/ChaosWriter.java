package io.escapement.dispatcher.relay;

import io.escapement.ledger.LedgerConfig;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Commits small outbox transactions, one after another, on a server that may go away at any moment;
 * knows in the end which of them became true. All of its events have one key.
 */
final class ChaosWriter implements Callable<List<String>> {

  private static final long PAUSE_NANOS = 8_000_000;

  private final LedgerConfig ledger;
  private final String who;
  private final int wanted;
  private final BooleanSupplier enough;
  private final List<String> committed = new ArrayList<>();
  private @Nullable Connection connection;

  /**
   * A writer that has not begun.
   *
   * @param wanted it writes at least so many events
   * @param enough and goes on until this is so
   */
  ChaosWriter(LedgerConfig ledger, String who, int wanted, BooleanSupplier enough) {
    this.ledger = ledger;
    this.who = who;
    this.wanted = wanted;
    this.enough = enough;
  }

  /** What a reader groups its events by. */
  String key() {
    return EventEncoder.identityKey(who, "key");
  }

  /** Writes; answers with the ids of the events that became true, in the order of their commits. */
  @Override
  public List<String> call() throws SQLException {
    for (int round = 0; committed.size() < wanted || !enough.getAsBoolean(); round++) {
      int events = 1 + round % 9;
      long id = 0;
      try {
        Connection open = connection();
        id = insert(open, events);
        if (round % 13 == 0) {
          open.rollback();
          id = 0;
        } else {
          open.commit();
        }
      } catch (SQLException e) {
        // A commit whose answer was lost is neither done nor undone: look.
        connection = null;
        if (id == 0 || !exists(id)) {
          continue;
        }
      }
      for (int i = 0; id > 0 && i < events; i++) {
        committed.add(id + "-" + i);
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    return List.copyOf(committed);
  }

  private long insert(Connection open, int events) throws SQLException {
    String packed = "O\tdone\t1\t%s\tkey\tt\twork\tlocal\t1\tCOMPLETED\t\\N\n".formatted(who);
    try (PreparedStatement insert =
        open.prepareStatement("insert into escapement.outbox (events) values (?) returning id")) {
      insert.setString(1, packed.repeat(events));
      try (ResultSet row = insert.executeQuery()) {
        row.next();
        return row.getLong(1);
      }
    }
  }

  private boolean exists(long id) {
    while (true) {
      try (PreparedStatement look =
          connection().prepareStatement("select from escapement.outbox where id = ?")) {
        look.setLong(1, id);
        try (ResultSet row = look.executeQuery()) {
          return row.next();
        }
      } catch (SQLException e) {
        connection = null;
      }
    }
  }

  /** Tries until there is one. */
  private Connection connection() {
    Connection open = connection;
    while (open == null) {
      try {
        open = DriverManager.getConnection(ledger.url(), ledger.user(), ledger.password());
        open.setAutoCommit(false);
      } catch (SQLException e) {
        open = null;
        LockSupport.parkNanos(100_000_000);
      }
    }
    connection = open;
    return open;
  }
}
