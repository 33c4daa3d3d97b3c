package io.escapement.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How the hot functions find their rows: by index conditions, whatever the tables hold. */
class PlanPostgresTest {

  private static final Pattern REMOVED = Pattern.compile("Rows Removed by .*: (\\d+)");
  private static final Pattern BUFFERS = Pattern.compile("shared hit=(\\d+)|read=(\\d+)");

  /** So many rows that were read and thrown away are a scan and not a look-up. */
  private static final int MANY = 50;

  private final List<String> scans = new ArrayList<>();
  private TestLedger db;
  private Connection connection;
  private Statement statement;

  @BeforeEach
  void open() throws SQLException {
    db = TestLedger.create();
    connection = db.connection();
    statement = connection.createStatement();
  }

  @AfterEach
  void close() throws SQLException {
    connection.close();
    db.close();
  }

  @Test
  void noHotFunctionScansANewLedger() throws SQLException {
    // Plans that are kept from the time when everything was empty must not be scans later.
    everyCall();
    fill(40_000);
    assertThat(scansOf(this::everyCall)).isEmpty();
  }

  @Test
  void noHotFunctionScansALedgerWithStatistics() throws SQLException {
    fill(40_000);
    statement.execute("analyze");
    everyCall();
    assertThat(scansOf(this::everyCall)).isEmpty();
  }

  /** The control: the same eyes see the scan that a volatile clock makes. */
  @Test
  void aConditionOnAVolatileClockIsSeenAsAScan() throws SQLException {
    fill(40_000);
    statement.execute("analyze");
    assertThat(
            scansOf(
                () ->
                    run(
                        "select id from escapement.task where queue = 'default' and slot = 7"
                            + " and state in ('SCHEDULED', 'UNKNOWN')"
                            + " and due_at <= clock_timestamp() order by due_at limit 10")))
        .isNotEmpty();
  }

  @Test
  void anEmptyClaimTouchesAHandfulOfBuffersHoweverMuchWaits() throws SQLException {
    fill(40_000);
    statement.execute("analyze");
    String claim = "select * from escapement.claim_due('w', 'default', '{7}', null, 10)";
    useOften(claim);
    assertThat(buffers(claim)).isLessThan(10);
    // The control: the clock that is read row by row.
    assertThat(
            buffers(
                "select id from escapement.task where queue = 'default' and slot = 7"
                    + " and state in ('SCHEDULED', 'UNKNOWN')"
                    + " and due_at <= clock_timestamp() order by due_at limit 10"))
        .isGreaterThan(100);
  }

  @Test
  void whatIsPausedIsPassedOverAndNotRead() throws SQLException {
    fill(40_000);
    statement.execute("analyze");
    String all = "select * from escapement.claim_due('w', 'default', null, null, 100)";
    // Everything that is due is paused.
    statement.execute("select escapement.pause('tenant', 'big')");
    useOften(all);
    assertThat(buffers(all)).isLessThan(100);
    assertThat(scansOf(() -> run(all))).isEmpty();
    // The control: a fetch by due time alone, with the pause as a filter.
    assertThat(
            buffers(
                "select t.id from generate_series(0, 255) s(slot) cross join lateral (select id"
                    + " from escapement.task t where queue = 'default' and t.slot = s.slot"
                    + " and state in ('SCHEDULED', 'UNKNOWN') and due_at <= now()"
                    + " and tenant <> 'big' order by due_at limit 100) t"))
        .isGreaterThan(1_000);
  }

  private interface Calls {
    void run() throws SQLException;
  }

  /** Each hot function, as its callers use it. */
  private void everyCall() throws SQLException {
    statement.execute("begin");
    for (String call :
        List.of(
            "select * from escapement.submit('/plan', 'new', 'acme', 'work', 'x')",
            "select * from escapement.submit('/plan', 'new', 'acme', 'work', 'x')",
            "select * from escapement.claim('p1', '{work}',"
                + " array(select max(id) from escapement.task))",
            "select * from escapement.claimed_by('p1')",
            "select * from escapement.renew(array(select max(id) from escapement.task), '{1}')",
            "select escapement.fence((select max(id) from escapement.task), 1)",
            "select * from escapement.observe(array(select max(id) from escapement.task), '{1}',"
                + " '{COMPLETED}', null, '{x}')",
            "select escapement.outcome((select max(id) from escapement.task), 1)",
            "select * from escapement.claim_due('p2', 'default', '{9}', '{work}', 10)",
            "select * from escapement.horizon('default', '{7,9}', '{work}', now(), 100)",
            "select * from escapement.reclaim('default', '{7,9}', 100)",
            "select * from escapement.cancel('/plan', 'new')",
            "select * from escapement.forget(10)")) {
      run(call);
    }
    statement.execute("rollback");
  }

  /** Half of them due in slots of their own, for the tenant {@code big}; half in an hour. */
  private void fill(int tasks) throws SQLException {
    statement.execute(
        "insert into escapement.intent (id, namespace, event_id, tenant, kind, slot, first_task,"
            + " task_count, value, issued_at, last_issued_at)"
            + " select g, '/fill', 'e' || g, case when g % 2 = 0 then 'later' else 'big' end,"
            + " 'work', case when g % 2 = 0 then 7 else 8 end, g, 1, 'abc', now(), now()"
            + " from generate_series(1000000, 999999 + "
            + tasks
            + ") g");
    statement.execute(
        "insert into escapement.task (id, intent_id, tenant, kind, channel, queue, slot, bytes,"
            + " state, due_at, tries_left)"
            + " select id, id, tenant, kind, 'local', 'default', slot, 3, 'SCHEDULED',"
            + " now() + case when slot = 7 then interval '1 hour' else interval '-1 hour' end"
            + " + (id || ' microseconds')::interval, 5 from escapement.intent"
            + " where namespace = '/fill'");
    statement.execute(
        "insert into escapement.attempt (task_id, number, action, finished_at, outcome)"
            + " select -id, 1, 'RUN', now(), 'FAILED' from escapement.task");
    statement.execute("select setval('escapement.task_id', 2000000)");
  }

  /** What the plans of all statements, those within functions too, read without an index. */
  private List<String> scansOf(Calls calls) throws SQLException {
    statement.execute("load 'auto_explain'");
    statement.execute("set auto_explain.log_min_duration = 0");
    statement.execute("set auto_explain.log_analyze = on");
    statement.execute("set auto_explain.log_nested_statements = on");
    statement.execute("set client_min_messages = log");
    scans.clear();
    calls.run();
    statement.execute("set client_min_messages = notice");
    statement.execute("set auto_explain.log_min_duration = -1");
    return List.copyOf(scans);
  }

  /** Runs a statement and looks at the plans that the server tells of it. */
  private void run(String sql) throws SQLException {
    statement.execute(sql);
    for (SQLWarning told = statement.getWarnings(); told != null; told = told.getNextWarning()) {
      scans.addAll(scansIn(String.valueOf(told.getMessage())));
    }
    statement.clearWarnings();
  }

  private static List<String> scansIn(String plan) {
    List<String> scans = new ArrayList<>();
    String node = "";
    for (String line : plan.lines().toList()) {
      if (line.contains("->") || line.contains(" Scan ")) {
        node = line.strip();
      }
      boolean bulky = node.matches(".*\\bon (task|intent|attempt|effect)\\b.*");
      if (bulky && line.contains("Seq Scan on")) {
        scans.add(line.strip());
      }
      Matcher removed = REMOVED.matcher(line);
      if (bulky && removed.find() && Integer.parseInt(removed.group(1)) > MANY) {
        scans.add(node + ": " + line.strip());
      }
    }
    return scans;
  }

  /** Until its plans are kept, so that planning reads nothing any more. */
  private void useOften(String sql) throws SQLException {
    for (int i = 0; i < 8; i++) {
      statement.execute(sql);
    }
  }

  private long buffers(String sql) throws SQLException {
    long buffers = 0;
    try (var rows = statement.executeQuery("explain (analyze, buffers, costs off) " + sql)) {
      while (rows.next()) {
        String line = rows.getString(1);
        if (line.contains("Buffers:")) {
          Matcher one = BUFFERS.matcher(line);
          while (one.find()) {
            buffers += Long.parseLong(one.group(1) != null ? one.group(1) : one.group(2));
          }
          // The first line is of the whole plan.
          return buffers;
        }
      }
    }
    return buffers;
  }
}
