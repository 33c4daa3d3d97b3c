package io.escapement.ledger;

import io.escapement.embedded.EmbeddedDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/**
 * A migrated database of its own on a PostgreSQL server that all tests of one JVM share. The server
 * ends with the JVM.
 */
public final class TestLedger implements AutoCloseable {

  /** Every slot there is. */
  public static final List<Integer> ALL_SLOTS = IntStream.range(0, 256).boxed().toList();

  private static final String USER = "postgres";
  private static final AtomicInteger NEXT = new AtomicInteger();

  private final LedgerConfig config;
  private final List<Ledger> open = new ArrayList<>();

  private TestLedger(LedgerConfig config) {
    this.config = config;
  }

  /** A new database with the current schema and one kind, {@code work}. */
  public static TestLedger create() {
    return copyOf(Template.name());
  }

  /** A new database without a schema. */
  public static TestLedger createEmpty() {
    return copyOf("template1");
  }

  /** The same as {@link #create}, without a kind, on a server that a test has for itself. */
  public static TestLedger createOn(EmbeddedDatabase server) {
    String name = "ledger_" + NEXT.incrementAndGet();
    server.createDatabase(name);
    LedgerConfig config = LedgerConfig.of(server.jdbcUrl(name), USER, USER);
    Migrator.migrate(config);
    return new TestLedger(config);
  }

  private static TestLedger copyOf(String template) {
    String name = "ledger_" + NEXT.incrementAndGet();
    runOnServer("create database " + name + " template " + template);
    return new TestLedger(LedgerConfig.of(Server.INSTANCE.jdbcUrl(name), USER, USER));
  }

  private static void runOnServer(String sql) {
    try (Connection c =
            DriverManager.getConnection(Server.INSTANCE.jdbcUrl("postgres"), USER, USER);
        Statement s = c.createStatement()) {
      s.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  /** Where it is, and a login that may do everything. */
  public LedgerConfig config() {
    return config;
  }

  /** A face on it under a role; closed with this fixture. */
  public Ledger connect(Role role) {
    Ledger ledger = Ledger.connect(config, role);
    open.add(ledger);
    return ledger;
  }

  /** A plain connection as the owner; the caller closes it. */
  public Connection connection() throws SQLException {
    return DriverManager.getConnection(config.url(), config.user(), config.password());
  }

  /** Runs statements as the owner. */
  public void execute(String sql) {
    try (Connection c = connection();
        Statement s = c.createStatement()) {
      s.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  /** The first column of every row, as text. */
  public List<String> column(String sql) {
    try (Connection c = connection();
        Statement s = c.createStatement();
        ResultSet rows = s.executeQuery(sql)) {
      List<String> values = new ArrayList<>();
      while (rows.next()) {
        values.add(String.valueOf(rows.getString(1)));
      }
      return values;
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  /** Every event of the outbox, in order. */
  public List<OutboxEvent> events() {
    return column("select events from escapement.outbox order by id").stream()
        .flatMap(row -> OutboxRow.parse(row).stream())
        .toList();
  }

  /** What the outcome events of the outbox say, in order. */
  public List<String> outcomes() {
    return events().stream()
        .filter(OutboxEvent.Outcome.class::isInstance)
        .map(event -> ((OutboxEvent.Outcome) event).change())
        .toList();
  }

  /** The one number that a query answers with. */
  public long number(String sql) {
    return Long.parseLong(column(sql).get(0));
  }

  /**
   * Admits requests of the kind {@code work} on a partition of its own, all due now.
   *
   * @return the decisions
   */
  public List<Decision> submit(Ledger ingest, Submission.Request... requests) {
    PartitionKey partition = new PartitionKey("requests", UUID.randomUUID(), 0);
    AdmissionBatch batch =
        new AdmissionBatch(
            List.of(new PositionAdvance(partition, null, requests.length)), List.of(requests));
    return ((Admission.Decided) ingest.admit(batch))
        .decisions().stream().map(Admission.Decided.One::decision).toList();
  }

  /** Closes its faces. The database goes with the server: dropping it costs a checkpoint. */
  @Override
  public void close() {
    for (Ledger one : open) {
      one.close();
    }
  }

  /** Migrated once: copying a database is ten times as quick as migrating one. */
  private static final class Template {
    private static final String NAME = "migrated";

    static {
      runOnServer("create database " + NAME);
      LedgerConfig config = LedgerConfig.of(Server.INSTANCE.jdbcUrl(NAME), USER, USER);
      Migrator.migrate(config);
      try (Ledger operator = Ledger.connect(config, Role.OPERATOR)) {
        operator.defineKind(KindDefinition.local("work"), "test");
      }
    }

    static String name() {
      return NAME;
    }
  }

  /** Started by the first test that needs it; its own shutdown hook ends it. */
  private static final class Server {
    static final EmbeddedDatabase INSTANCE = EmbeddedDatabase.start();
  }
}
