package io.escapement.ledger;

import com.zaxxer.hikari.HikariDataSource;
import io.escapement.embedded.EmbeddedDatabase;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What a job in a child process has: faces on the test's database, kept from one job to the next
 * while the database stays the same, and words with the test.
 */
final class ChildSession implements AutoCloseable {

  /** The exit status of a process that left by {@link #halt}. */
  static final int HALTED = 86;

  private final String name;
  private final BufferedReader fromTest;
  private final PrintStream toTest;
  private final Map<Role, Ledger> faces = new EnumMap<>(Role.class);
  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private @Nullable String url;
  private @Nullable Connection owner;
  private int claims;

  ChildSession(String name, BufferedReader fromTest, PrintStream toTest) {
    this.name = name;
    this.fromTest = fromTest;
    this.toTest = toTest;
  }

  /** Turns to a database; what was open on another one is closed. */
  void use(String wanted) {
    if (!wanted.equals(url)) {
      close();
      url = wanted;
    }
  }

  /** The name that the server shows as its sessions' application. */
  String name() {
    return name;
  }

  LedgerConfig config() {
    return LedgerConfig.of(
            url + "?ApplicationName=" + name, EmbeddedDatabase.USER, EmbeddedDatabase.USER)
        .withPoolSize(1);
  }

  /** The face under a role, on one connection. */
  Ledger ledger(Role role) {
    return faces.computeIfAbsent(role, r -> keep(Ledger.connect(config(), r)));
  }

  /** Asks for one request on a partition of its own. */
  Decision admit(Requests request) {
    AdmissionBatch batch = batch(request);
    return ((Admission.Decided) ledger(Role.INGEST).admit(batch)).decisions().get(0).decision();
  }

  /** One request on a partition of its own. */
  static AdmissionBatch batch(Requests request) {
    return batch(UUID.randomUUID(), request);
  }

  /** One request, the first of a topic's only partition. */
  static AdmissionBatch batch(UUID topic, Requests request) {
    PartitionKey partition = new PartitionKey("requests", topic, 0);
    return new AdmissionBatch(
        List.of(new PositionAdvance(partition, null, 1)), List.of(request.build()));
  }

  /** A lease owner that no claim has had. */
  String nextOwner() {
    return name + "/" + ++claims;
  }

  /** Claims one task; null if it is not to be had. */
  @Nullable ClaimedTask claim(long task) {
    ClaimAnswer answer =
        ledger(Role.DISPATCHER).claim(nextOwner(), WorkFilter.ANY, List.of(task)).get(0);
    return answer instanceof ClaimAnswer.Claimed claimed ? claimed.lease() : null;
  }

  /** A connection as the owner, in no role, the same every time. */
  Connection owner() throws SQLException {
    if (owner == null) {
      owner = connection();
    }
    return owner;
  }

  /** Runs statements as the owner. */
  void run(String sql) throws SQLException {
    try (Statement s = owner().createStatement()) {
      s.execute(sql);
    }
  }

  /** What a query as the owner answers with: the first column of its only row, as text. */
  String text(String sql) throws SQLException {
    try (Statement s = owner().createStatement();
        ResultSet row = s.executeQuery(sql)) {
      row.next();
      return String.valueOf(row.getString(1));
    }
  }

  /** The pool that a service would have under a role, with a timeout of the test's. */
  HikariDataSource pool(Role role, Duration statementTimeout) {
    LedgerConfig c = config();
    return keep(
        Pools.open(
            new LedgerConfig(
                c.url(),
                c.user(),
                c.password(),
                1,
                c.connectTimeout(),
                statementTimeout,
                c.lockTimeout()),
            role));
  }

  /** What operations run their statements on, with something to happen around each commit. */
  Statements statements(Role role, CommitBoundary boundary) {
    return statements(role, Duration.ofSeconds(30), boundary);
  }

  /** The same, with the time that the server allows a statement, or a transaction that is idle. */
  Statements statements(Role role, Duration timeout, CommitBoundary boundary) {
    return new Statements(boundary.around(pool(role, timeout)));
  }

  /** A connection as the owner, in no role. */
  Connection connection() throws SQLException {
    return keep(Pools.connect(config()));
  }

  /** Waits, with all others, until the test lets them go. */
  void awaitStart() throws SQLException {
    StartLine.cross(owner());
  }

  /** Stands still at a named place until the test says so. */
  void pause(String place) {
    ChildMain.say(toTest, ChildMain.Word.PAUSED, place);
    try {
      if (fromTest.readLine() == null) {
        throw new IllegalStateException("the test is gone");
      }
    } catch (IOException e) {
      throw new IllegalStateException("paused " + place, e);
    }
  }

  /** Leaves as a killed process does: no hook, no closed connection, nothing flushed. */
  void halt() {
    Runtime.getRuntime().halt(HALTED);
  }

  /** Leaves as soon as the server makes one of its statements wait at a {@link Gate}. */
  void haltAtGate() throws SQLException {
    Connection watch = connection();
    Thread.ofPlatform()
        .daemon()
        .name("halt-at-gate")
        .start(
            () -> {
              try (Statement s = watch.createStatement()) {
                while (!waitsAtGate(s)) {
                  Thread.sleep(2);
                }
                halt();
              } catch (SQLException | InterruptedException e) {
                throw new IllegalStateException("the gate can't be watched", e);
              }
            });
  }

  private boolean waitsAtGate(Statement s) throws SQLException {
    try (ResultSet row =
        s.executeQuery(Gate.WAITING + " and a.application_name = '" + name + "'")) {
      return row.next() && row.getInt(1) > 0;
    }
  }

  private <T extends AutoCloseable> T keep(T one) {
    open.push(one);
    return one;
  }

  @Override
  public void close() {
    List<AutoCloseable> ending = new ArrayList<>(open);
    open.clear();
    faces.clear();
    owner = null;
    for (AutoCloseable one : ending) {
      try {
        one.close();
      } catch (Exception e) {
        // The server may have ended it already, which is what some tests are about.
      }
    }
  }
}
