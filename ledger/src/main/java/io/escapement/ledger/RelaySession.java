package io.escapement.ledger;

import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The relay's own connection: its advisory lock elects the one leader, and through it the leader
 * looks after the replication slot and the outbox table.
 *
 * <p>The server ends the session, and with it the lock, if nothing is asked on it for the silence
 * limit: a process that is stopped, or whose host is gone, must not keep the others waiting. So a
 * leader has to ask something, {@link #slot} say, several times within that limit.
 *
 * <p>Thread rule: any thread; calls wait for one another, except {@link #createSlot}, which uses
 * connections of its own. Failure: {@link LedgerException}; the session is then of no use.
 */
public final class RelaySession implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(RelaySession.class);
  private static final String PLUGIN = "pgoutput";
  private static final int SNAPSHOT_PAGE_ROWS = 500;

  private final RelayConnections connections;
  private final LedgerConfig config;
  private final String slot;
  private final Connection connection;
  private volatile @Nullable Connection creating;

  private final String leadSql = Statements.load("relay_lead");
  private final String slotSql = Statements.load("relay_slot_state");
  private final String evictSql = Statements.load("relay_evict");
  private final String heartbeatSql = Statements.load("relay_heartbeat");
  private final String snapshotSql = Statements.load("relay_log_snapshot");
  private final String prunableSql = Statements.load("relay_prunable");
  private final String pruneSql = Statements.load("relay_prune");
  private final String ledgerSql = Statements.load("relay_ledger");
  private final String queuesSql = Statements.load("relay_queues");

  private RelaySession(LedgerConfig config, String slot, Duration silenceLimit) {
    this.config = config;
    this.slot = slot;
    this.connections = new RelayConnections(config);
    this.connection = connections.ordinary(config.statementTimeout().plus(silenceLimit));
  }

  /**
   * Connects and checks that this server can be relayed from.
   *
   * @param slot the replication slot's name
   * @param silenceLimit after so long without a call the server ends the session
   * @throws LedgerUnavailableException with one line that names the setting and the cure
   */
  public static RelaySession open(LedgerConfig config, String slot, Duration silenceLimit) {
    RelaySession session = new RelaySession(config, slot, silenceLimit);
    try {
      session.checkServer();
      session.prepare(silenceLimit);
      return session;
    } catch (RuntimeException e) {
      session.close();
      throw e;
    }
  }

  /** Tries to become the leader; the lock is held until the session ends. */
  public synchronized boolean tryLead() {
    return query("asking for leadership", leadSql, p -> p.text(slot), row -> row.getBoolean(1))
        .orElse(false);
  }

  /** Which ledger this is. */
  public synchronized UUID ledgerId() {
    return query("reading the ledger's id", ledgerSql, p -> {}, row -> row.getObject(1, UUID.class))
        .orElseThrow(() -> new LedgerException("the ledger has no settings row"));
  }

  /** How large a request's value may be: the largest that a dead letter can carry. */
  public synchronized int maxPayloadBytes() {
    return query("reading the size limit", ledgerSql, p -> {}, row -> row.getInt(2))
        .orElseThrow(() -> new LedgerException("the ledger has no settings row"));
  }

  /** Every queue that some kind names. */
  public synchronized List<String> queues() {
    try {
      return Statements.query(connection, queuesSql, p -> {}, row -> row.getString(1));
    } catch (SQLException e) {
      throw new LedgerException("reading the queues", e);
    }
  }

  /**
   * Which history of which server this is.
   *
   * @throws LedgerUnavailableException if the login may not replicate
   */
  public ServerIdentity identity() {
    try (Connection replication = connections.replication();
        Statement statement = replication.createStatement();
        ResultSet row = statement.executeQuery("IDENTIFY_SYSTEM")) {
      row.next();
      return new ServerIdentity(row.getString("systemid"), row.getInt("timeline"));
    } catch (SQLException e) {
      throw new LedgerException("identifying the server", e);
    }
  }

  /**
   * The slot as it is now; empty if there is none.
   *
   * @throws LedgerUnavailableException if a slot of that name serves something else
   */
  public synchronized Optional<SlotState> slot() {
    return query("reading the replication slot", slotSql, p -> p.text(slot), this::slotState);
  }

  private SlotState slotState(ResultSet row) throws SQLException {
    if (!PLUGIN.equals(row.getString(1)) || !row.getString(8).equals(row.getString(2))) {
      throw new LedgerUnavailableException(
          "the replication slot '"
              + slot
              + "' belongs to something else (plugin "
              + row.getString(1)
              + ", database "
              + row.getString(2)
              + "); choose another name with relay.slot");
    }
    String confirmed = row.getString(4);
    return new SlotState(
        confirmed == null ? Lsn.ZERO : Lsn.parse(confirmed),
        Lsn.parse(row.getString(5)),
        row.getLong(6),
        row.getInt(3),
        row.getString(7));
  }

  /** Ends the server process that streams from the slot, if any: a former leader's. */
  public synchronized void evict() {
    execute("reset role");
    try {
      query(
          "ending the former leader's stream",
          evictSql,
          p -> p.text(slot),
          row -> row.getBoolean(1));
    } finally {
      execute("set role escapement_relay");
    }
  }

  /**
   * Creates the slot, in place of one that may exist, and shows the outbox at its beginning. Waits
   * for the transactions that are running.
   *
   * @throws LedgerUnavailableException if the server has no slot to give
   */
  public OutboxSnapshot createSlot() {
    Connection reading = null;
    try (Connection replication = connections.replication();
        Statement command = replication.createStatement()) {
      creating = replication;
      if (slot().isPresent()) {
        command.execute("DROP_REPLICATION_SLOT \"" + slot + "\" WAIT");
      }
      try (ResultSet made =
          command.executeQuery(
              "CREATE_REPLICATION_SLOT \""
                  + slot
                  + "\" LOGICAL "
                  + PLUGIN
                  + " (SNAPSHOT 'export')")) {
        made.next();
        Lsn consistentPoint = Lsn.parse(made.getString("consistent_point"));
        reading = connections.ordinary(config.statementTimeout());
        importSnapshot(reading, made.getString("snapshot_name"));
        return new OutboxSnapshot(reading, consistentPoint, SNAPSHOT_PAGE_ROWS);
      }
    } catch (SQLException e) {
      closeQuietly(reading);
      throw slotTrouble(e);
    } finally {
      creating = null;
    }
  }

  private static void importSnapshot(Connection reading, String snapshot) throws SQLException {
    reading.setAutoCommit(false);
    try (Statement statement = reading.createStatement()) {
      statement.execute("set role escapement_relay");
      statement.execute("set idle_in_transaction_session_timeout = 0");
      reading.commit();
      statement.execute("set transaction isolation level repeatable read, read only");
      // The name comes from the server and is hexadecimal digits and dashes.
      statement.execute("set transaction snapshot '" + snapshot + "'");
    }
  }

  private RuntimeException slotTrouble(SQLException e) {
    if ("53400".equals(e.getSQLState())) {
      return new LedgerUnavailableException(
          "PostgreSQL has no replication slot left; raise max_replication_slots or drop one that"
              + " nobody uses",
          e);
    }
    return new LedgerException("creating the replication slot '" + slot + "'", e);
  }

  /**
   * Writes a small transaction that is streamed but has no outbox row, so that what is relayed can
   * move past what others write.
   *
   * @return where in the log it is; its commit follows
   */
  public synchronized Lsn heartbeat() {
    return query("writing a heartbeat", heartbeatSql, p -> {}, row -> Lsn.parse(row.getString(1)))
        .orElseThrow();
  }

  /**
   * Lets the server forget log up to here once the slot is confirmed beyond, instead of up to what
   * it notes by itself every 15 seconds.
   *
   * @return whether it could be done: on PostgreSQL 16 and later, by an owner that may
   */
  public synchronized boolean logSnapshot() {
    return query("logging a snapshot", snapshotSql, p -> {}, row -> row.getBoolean(1))
        .orElse(false);
  }

  /** The oldest rows past the grace time, at most a limit. */
  public synchronized Prunable prunable(Duration grace, int limit) {
    return query(
            "looking for rows to prune",
            prunableSql,
            p -> p.decimal(grace.toMillis() / 1_000.0).integer(limit),
            RelaySession::prunable)
        .orElseThrow();
  }

  private static Prunable prunable(ResultSet row) throws SQLException {
    Array ids = row.getArray(1);
    return new Prunable(List.of((Long[]) ids.getArray()), Lsn.parse(row.getString(2)));
  }

  /**
   * Deletes rows that are known to be relayed.
   *
   * @return how many there were
   */
  public synchronized long prune(List<Long> ids) {
    return query("pruning the outbox", pruneSql, p -> p.array("int8", ids), row -> row.getLong(1))
        .orElse(0L);
  }

  /** Ends the session; a slot that is being created is given up. */
  @Override
  public void close() {
    Connection replication = creating;
    if (replication != null) {
      abort(replication);
    }
    closeQuietly(connection);
  }

  private void checkServer() {
    RelayServerCheck check = new RelayServerCheck(config);
    String problem =
        query("checking the server", Statements.load("relay_server"), p -> {}, check::problem)
            .orElseThrow();
    if (!problem.isEmpty()) {
      throw new LedgerUnavailableException(problem);
    }
  }

  private synchronized void prepare(Duration silenceLimit) {
    query(
        "preparing the session",
        Statements.load("relay_prepare"),
        p ->
            p.text(millis(silenceLimit))
                .text(millis(silenceLimit))
                .text(millis(config.statementTimeout()))
                .text(millis(config.lockTimeout())),
        row -> true);
  }

  private static String millis(Duration duration) {
    return duration.toMillis() + "ms";
  }

  private synchronized <T> Optional<T> query(
      String what, String sql, Statements.Binder binder, Statements.RowReader<T> reader) {
    try {
      return Statements.query(connection, sql, binder, reader).stream().findFirst();
    } catch (SQLException e) {
      throw new LedgerException(what, e);
    }
  }

  private void execute(String sql) {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new LedgerException(sql, e);
    }
  }

  private static void abort(Connection connection) {
    try {
      connection.abort(Runnable::run);
    } catch (SQLException e) {
      LOG.debug("a connection did not close cleanly", e);
    }
  }

  private static void closeQuietly(@Nullable Connection connection) {
    if (connection != null) {
      try {
        connection.close();
      } catch (SQLException e) {
        LOG.debug("a connection did not close cleanly", e);
      }
    }
  }
}
