package io.escapement.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * What every role does on a good day and on a bad one, by SQL alone, in one session that takes one
 * role after another. No statement here uses an operator or a function but the schema's own, so
 * that it says the same under any search path.
 */
final class MainPath {

  private final Statement statement;

  private MainPath(Statement statement) {
    this.statement = statement;
  }

  /** Walks it; the login may take every role. */
  static void walk(Connection connection) throws SQLException {
    try (Statement s = connection.createStatement()) {
      MainPath path = new MainPath(s);
      path.defineWork();
      path.admit();
      path.complete();
      path.cancelAfterFailure();
      path.quarantineAndPause();
      path.callTheOutside();
      path.notify("ann");
      path.lookAfter();
    }
  }

  private void defineWork() throws SQLException {
    as(Role.OPERATOR);
    rows("select from escapement.define_kind('work')");
    rows("select from escapement.define_channel('blind', 'OPAQUE', '1 second')");
    rows("select from escapement.define_kind('call', p_channels => '{blind}')");
    rows(
        "select from escapement.define_kind('news', p_channels => '{blind}',"
            + " p_routing => 'PREFERENCE')");
    rows("select from escapement.set_tenant('acme', 1000, 1000000, 1, 'test')");
    rows("select from escapement.set_limits(1000, 1000000, 'test')");
  }

  private void admit() throws SQLException {
    as(Role.INGEST);
    says(
        "accepted",
        """
        select decision from escapement.admit('{requests}',
          '{0d9f2e3c-5b35-4a1c-9a55-0c5a7e0f1a11}', '{0}', '{null}', '{1}', '{1}', '{0}', '{null}',
          '{null}', '{/shop}', '{admitted}', '{acme}', '{work}', '{null}',
          '{%d000}',
          '{null}', '{null}', '{null}', '{text/plain}', '{"\\\\x01"}', '{"\\\\x"}')
        """
            .formatted(System.currentTimeMillis()));
    says(
        "1",
        "select position from escapement.positions("
            + "'{0d9f2e3c-5b35-4a1c-9a55-0c5a7e0f1a11}', '{0}')");
    says("accepted", submit("a", "work"));
    says("replay", submit("a", "work"));
  }

  private void complete() throws SQLException {
    as(Role.DISPATCHER);
    for (String task : rows(claimDue("w/1"))) {
      says("HELD", "select escapement.fence(%s, 1)".formatted(task));
      says("RENEWED", "select answer from escapement.renew('{%s}', '{1}')".formatted(task));
      says("DONE", observe(task, 1, "COMPLETED", "'{\"\\\\x02\"}'"));
      says("COMPLETED", "select escapement.outcome(%s, 1)".formatted(task));
    }
    assertThat(rows("select task_id from escapement.claimed_by('w/1')")).isEmpty();
  }

  private void cancelAfterFailure() throws SQLException {
    as(Role.OPERATOR);
    says("accepted", submit("b", "work"));
    as(Role.DISPATCHER);
    String task = rows(claimDue("w/2")).get(0);
    says("SCHEDULED", observe(task, 1, "FAILED", "null"));
    as(Role.OPERATOR);
    says("CANCELLED", "select result from escapement.cancel('/shop', 'b')");
  }

  private void quarantineAndPause() throws SQLException {
    as(Role.INGEST);
    says("accepted", submit("c", "work"));
    as(Role.DISPATCHER);
    String task =
        rows("select task_id from escapement.horizon('default', '{"
                + allSlots()
                + "}', null, 'infinity', 10) offset 1")
            .get(0);
    as(Role.OPERATOR);
    says("QUARANTINED", "select escapement.quarantine(%s)".formatted(task));
    says("REDRIVEN", "select escapement.redrive(%s, 0)".formatted(task));
    says("RESCHEDULED", "select escapement.reschedule(%s, 1, '2001-01-01')".formatted(task));
    says("PAUSED", "select escapement.pause('kind', 'work')");
    as(Role.DISPATCHER);
    assertThat(rows(claimDue("w/3"))).isEmpty();
    says("PAUSED", "select answer from escapement.claim('w/4', null, '{%s}')".formatted(task));
    as(Role.OPERATOR);
    says("RESUMED", "select escapement.resume('kind', 'work')");
    as(Role.DISPATCHER);
    says(task, claimDue("w/5"));
    says("SCHEDULED", observe(task, 2, "RELEASED", "null"));
    says(task, claimDue("w/6"));
    says("DONE", observe(task, 3, "COMPLETED", "'{\"\\\\x02\"}'"));
  }

  private void callTheOutside() throws SQLException {
    as(Role.INGEST);
    says("accepted", submit("d", "call"));
    says("accepted", submit("e", "call"));
    as(Role.DISPATCHER);
    for (String task : rows(claimDue("w/7"))) {
      says("UNKNOWN", observe(task, 1, "TIMEOUT", "null"));
    }
    as(Role.OPERATOR);
    List<String> parked = rows("select task from escapement.needs_review");
    assertThat(parked).hasSize(2);
    says("DONE", "select escapement.resolve(%s, 'DONE')".formatted(parked.get(0)));
    says("FAILED", "select result from escapement.resolve_all('FAILED', null, null, null, 10)");
    assertThat(rows("select result from escapement.redrive_all(null, null, null, 10)")).isEmpty();
  }

  private void notify(String recipient) throws SQLException {
    as(Role.OPERATOR);
    says("SET", preference(recipient, true));
    says(
        "accepted",
        "select decision from escapement.submit('/shop', 'f', 'acme', 'news', '\\x01', '"
            + recipient
            + "')");
    says("SET", preference(recipient, false));
    as(Role.DISPATCHER);
    says("SUPPRESSED", "select state from escapement.claim_due('w/8', 'default', null, null, 10)");
    as(Role.INGEST);
    says("accepted", submit("g", "work"));
    as(Role.DISPATCHER);
    String task = rows(claimDue("w/9")).get(0);
    says("DONE", observe(task, 1, "COMPLETED", "'{\"\\\\x02\"}'"));
  }

  private void lookAfter() throws SQLException {
    as(Role.DISPATCHER);
    says("t", "select escapement.fold()");
    assertThat(
            rows("select task_id from escapement.reclaim('default', '{" + allSlots() + "}', 10)"))
        .isEmpty();
    says("0", "select tasks from escapement.forget(100)");
    as(Role.RELAY);
    assertThat(rows("select events from escapement.outbox")).isNotEmpty();
    String ids = rows("select ids from escapement.prunable_outbox('-1 hour', 1000)").get(0);
    assertThat(rows("select escapement.prune_outbox('%s')".formatted(ids))).doesNotContain("0");
    assertThat(rows("select escapement.log_snapshot()")).hasSize(1);
    assertThat(rows("select plugin from escapement.slot_state('none')")).isEmpty();
    as(Role.OPERATOR);
    says("0", "select tasks from escapement.retire(100)");
    as(Role.READER);
    for (String view :
        List.of(
            "backlog",
            "backlog_by_age",
            "budgets",
            "channels",
            "contradicted",
            "in_flight",
            "kinds",
            "lateness",
            "ledger_counts",
            "needs_review",
            "paused",
            "quarantine",
            "relay_lag",
            "settings",
            "task_counts",
            "tenants")) {
      rows("select * from escapement." + view);
    }
    says("0", "select used_tasks from escapement.budgets");
    assertThat(rows("select detail from escapement.audit()")).isEmpty();
    statement.execute("reset role");
  }

  private void as(Role role) throws SQLException {
    statement.execute("set role " + role.sqlName());
  }

  /** Every row's first column is this, and there is a row. */
  private void says(String expected, String sql) throws SQLException {
    assertThat(rows(sql)).as(sql).isNotEmpty().containsOnly(expected);
  }

  private List<String> rows(String sql) throws SQLException {
    try (ResultSet rows = statement.executeQuery(sql)) {
      List<String> values = new ArrayList<>();
      boolean columns = rows.getMetaData().getColumnCount() > 0;
      while (rows.next()) {
        values.add(columns ? String.valueOf(rows.getString(1)) : "");
      }
      return values;
    }
  }

  private static String submit(String id, String kind) {
    return "select decision from escapement.submit('/shop', '%s', 'acme', '%s', '\\x01')"
        .formatted(id, kind);
  }

  private static String claimDue(String owner) {
    return "select task_id from escapement.claim_due('%s', 'default', null, null, 10)"
        .formatted(owner);
  }

  private static String observe(String task, int attempt, String seen, String effects) {
    return "select state from escapement.observe('{%s}', '{%d}', '{%s}', '{null}', %s)"
        .formatted(task, attempt, seen, effects);
  }

  private static String preference(String recipient, boolean enabled) {
    return "select escapement.set_preference('acme', '%s', 'blind', '+1', %s)"
        .formatted(recipient, enabled);
  }

  private static String allSlots() {
    StringBuilder slots = new StringBuilder("0");
    for (int slot = 1; slot < 256; slot++) {
      slots.append(',').append(slot);
    }
    return slots.toString();
  }
}
