package io.escapement.ledger.bench;

import io.escapement.ledger.LedgerConfig;
import io.escapement.ledger.LedgerException;
import io.escapement.ledger.Role;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A database of a benchmark's own, made on a server and dropped when it is closed: no ledger that
 * anybody uses is ever written.
 *
 * <p>Cost: one connection for as long as it is open. Thread rule: one thread. Failure: {@link
 * LedgerException}; the login must be allowed to create databases.
 */
public final class BenchDatabase implements AutoCloseable {

  private static final Pattern URL = Pattern.compile("(jdbc:postgresql:(?://[^/?]*/)?)([^?]*)(.*)");
  private static final int HISTORY_STEP = 250_000;
  private static final int DROP_TRIES = 50;
  private static final Duration DROP_PAUSE = Duration.ofMillis(200);
  private static final String NO_PERMISSION = "42501";
  private static final String IN_USE = "55006";

  private final LedgerConfig server;
  private final String name;
  private final LedgerConfig config;
  private final Connection connection;

  private BenchDatabase(
      LedgerConfig server, String name, LedgerConfig config, Connection connection) {
    this.server = server;
    this.name = name;
    this.config = config;
    this.connection = connection;
  }

  /**
   * Creates one.
   *
   * @param server any database of the server, and a login that may create others
   */
  public static BenchDatabase create(LedgerConfig server, String name) {
    try (Connection connection = BenchSql.connect(server)) {
      BenchSql.runMade(connection, "create_database", name);
    } catch (SQLException e) {
      throw new LedgerException(
          "ledger.url, ledger.user: a benchmark makes databases of its own, and could not make one",
          e);
    }
    LedgerConfig config =
        new LedgerConfig(
            urlOf(server.url(), name),
            server.user(),
            server.password(),
            server.poolSize(),
            server.connectTimeout(),
            server.statementTimeout(),
            server.lockTimeout());
    try {
      return new BenchDatabase(server, name, config, BenchSql.connect(config));
    } catch (SQLException e) {
      throw new LedgerException("database " + name, e);
    }
  }

  /** Where it is. */
  public LedgerConfig config() {
    return config;
  }

  /** How many records of a requests topic are decided: the sum of its partitions' positions. */
  public long decided(String topic) {
    try {
      return BenchSql.number(connection, "decided", topic);
    } catch (SQLException e) {
      throw new LedgerException("decided", e);
    }
  }

  /** Vacuums and analyzes, and writes what is dirty: so that every case begins alike. */
  public void settle() {
    try {
      BenchSql.run(connection, "settle");
      BenchSql.run(connection, "checkpoint");
    } catch (SQLException e) {
      // A checkpoint is for whom the server allows it; without one the figures spread more.
      if (!NO_PERMISSION.equals(e.getSQLState())) {
        throw new LedgerException("settle", e);
      }
    }
  }

  /** Keeps every ingest from deciding anything until it is opened again. */
  public Gate closeGate() {
    try {
      return Gate.close(BenchSql.connect(config));
    } catch (SQLException e) {
      throw new LedgerException("gate", e);
    }
  }

  /** Keeps vacuum from removing what is deleted from now on, until it is closed. */
  public OldSnapshot oldSnapshot() {
    try {
      return OldSnapshot.open(BenchSql.connect(config));
    } catch (SQLException e) {
      throw new LedgerException("old snapshot", e);
    }
  }

  /** How large the outbox is on the disk, with its indexes and what it stores beside itself. */
  public long outboxBytes() {
    try {
      return BenchSql.number(connection, "outbox_bytes");
    } catch (SQLException e) {
      throw new LedgerException("outbox size", e);
    }
  }

  /** Writes outbox rows. */
  public OutboxWriter outbox() {
    try {
      return new OutboxWriter(BenchSql.connect(config));
    } catch (SQLException e) {
      throw new LedgerException("outbox", e);
    }
  }

  /** Writes the rows of admission without a protocol. */
  public BareLoop bareLoop(BareLoop.Shape shape) {
    try {
      return new BareLoop(BenchSql.connect(config), shape);
    } catch (SQLException e) {
      throw new LedgerException("bare loop", e);
    }
  }

  /** Claims and ends due tasks without a protocol. */
  public BareDrain bareDrain() {
    try {
      return new BareDrain(BenchSql.connect(config));
    } catch (SQLException e) {
      throw new LedgerException("bare drain", e);
    }
  }

  /**
   * Adds accepted tasks that wait, all in one transaction, as admission would leave them, but
   * without a word in the outbox: no dispatcher is told.
   *
   * @param shape whose source, kind, tenants and sizes they have
   * @param firstDue from now until the first is due; negative: it is due already
   * @param step between the due times of one task and the next
   * @return when the first is due, by the database's clock
   */
  public Instant loadWaiting(BareLoop.Shape shape, int tasks, Duration firstDue, Duration step) {
    try (PreparedStatement load = connection.prepareStatement(BenchSql.load("waiting"))) {
      load.setString(1, shape.source());
      load.setInt(2, shape.tenants());
      load.setString(3, shape.kind());
      load.setInt(4, shape.valueBytes());
      load.setInt(5, tasks);
      load.setLong(6, TimeUnit.NANOSECONDS.toMicros(firstDue.toNanos()));
      load.setLong(7, TimeUnit.NANOSECONDS.toMicros(step.toNanos()));
      try (ResultSet row = load.executeQuery()) {
        row.next();
        return row.getObject(1, OffsetDateTime.class).toInstant();
      }
    } catch (SQLException e) {
      throw new LedgerException("waiting tasks", e);
    }
  }

  /** How many tasks are accepted and not ended. */
  public long outstanding() {
    return outstanding("");
  }

  /** How many of a tenant's are. */
  public long outstanding(String tenant) {
    try {
      return BenchSql.number(connection, "outstanding", tenant);
    } catch (SQLException e) {
      throw new LedgerException("outstanding", e);
    }
  }

  /** The database's clock. */
  public Instant clock() {
    try (PreparedStatement ask = connection.prepareStatement(BenchSql.load("clock"));
        ResultSet row = ask.executeQuery()) {
      row.next();
      return row.getObject(1, OffsetDateTime.class).toInstant();
    } catch (SQLException e) {
      throw new LedgerException("clock", e);
    }
  }

  /** How late the tasks that were due from a moment on, and are done, were claimed. */
  public ClaimLateness lateness(Instant dueFrom) {
    try (PreparedStatement ask = connection.prepareStatement(BenchSql.load("claim_lateness"))) {
      ask.setObject(1, dueFrom.atOffset(ZoneOffset.UTC));
      try (ResultSet row = ask.executeQuery()) {
        row.next();
        return ClaimLateness.of(row);
      }
    } catch (SQLException e) {
      throw new LedgerException("lateness", e);
    }
  }

  /** Counts what sessions of a role ask of it. */
  public UsageMeter usage(Role role) {
    return UsageMeter.open(create(server, name + "_meter"), role, name);
  }

  /**
   * Fills the ledger with tasks that are done.
   *
   * @param shape whose source, kind, tenants and sizes they have
   * @param randomIds whether their ids lie all over the index, as UUIDs do, or follow each other
   * @param loaded hears how many there are
   */
  public void loadHistory(
      BareLoop.Shape shape, boolean randomIds, long tasks, LongConsumer loaded) {
    try (PreparedStatement load = connection.prepareStatement(BenchSql.load("history"))) {
      for (long done = 0; done < tasks; ) {
        int step = (int) Math.min(HISTORY_STEP, tasks - done);
        load.setString(1, shape.source());
        load.setBoolean(2, randomIds);
        load.setInt(3, shape.tenants());
        load.setString(4, shape.kind());
        load.setInt(5, shape.valueBytes());
        load.setInt(6, step);
        load.executeUpdate();
        done += step;
        loaded.accept(done);
      }
    } catch (SQLException e) {
      throw new LedgerException("history", e);
    }
  }

  /** Drops it, with whoever is still connected to it. */
  @Override
  public void close() {
    try {
      connection.close();
      try (Connection other = BenchSql.connect(server)) {
        drop(other);
      }
    } catch (SQLException e) {
      throw new LedgerException("database " + name + " could not be dropped", e);
    }
  }

  private void drop(Connection other) throws SQLException {
    for (int tries = 1; ; tries++) {
      try {
        BenchSql.number(other, "end_senders", name);
        BenchSql.runMade(other, "drop_database", name);
        return;
      } catch (SQLException e) {
        if (tries == DROP_TRIES || !IN_USE.equals(e.getSQLState())) {
          throw e;
        }
        LockSupport.parkNanos(DROP_PAUSE.toNanos());
      }
    }
  }

  private static String urlOf(String url, String database) {
    Matcher parts = URL.matcher(url);
    if (!parts.matches()) {
      throw new IllegalArgumentException("ledger.url is '" + url + "'");
    }
    return parts.group(1) + database + parts.group(3);
  }
}
