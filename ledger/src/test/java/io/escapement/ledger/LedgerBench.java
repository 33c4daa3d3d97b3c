package io.escapement.ledger;

import java.io.PrintStream;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Measures the ledger alone, on one connection: what admission, claims and completions cost, that
 * history and future cost them nothing, what a pause costs, and what forgetting costs. Prints JSON
 * lines.
 *
 * <p>{@code -Dledger.bench.history} and {@code -Dledger.bench.future} say how many tasks have ended
 * and how many wait for another day when the second half is measured.
 */
public final class LedgerBench {

  private static final int BATCH = 500;
  private static final int BATCHES = 60;
  private static final int HISTORY = Integer.getInteger("ledger.bench.history", 1_000_000);
  private static final int FUTURE = Integer.getInteger("ledger.bench.future", 1_000_000);
  private static final int PAUSED = Integer.getInteger("ledger.bench.paused", 1_000_000);
  private static final int FORGET_CALLS = 300;
  private static final int LOAD_STEP = 500_000;
  private static final Pattern BUFFERS = Pattern.compile("(?:hit|read)=(\\d+)");

  private final PrintStream out;
  private int requests;

  private LedgerBench(PrintStream out) {
    this.out = out;
  }

  public static void main(String[] args) throws SQLException {
    new LedgerBench(System.out).run();
  }

  private void run() throws SQLException {
    try (TestLedger db = TestLedger.create();
        Connection connection = db.connection();
        Statement sql = connection.createStatement()) {
      Ledger ingest = db.connect(Role.INGEST);
      Ledger worker = db.connect(Role.DISPATCHER);
      Ledger operator = db.connect(Role.OPERATOR);
      operator.setLimits(1_000_000_000, 1L << 50, "bench");
      operator.setTenant("acme", 1_000_000_000, 1L << 50, 1, "bench");
      cycle(db, ingest, worker, "warm-up");
      cycle(db, ingest, worker, "empty");
      sql.execute("vacuum analyze");
      double emptyClaim = emptyClaimBuffers(sql);
      double claim = claimBuffers(db, ingest, sql);
      double admit = admitBuffers(sql);

      load(sql, "history", HISTORY, "'DONE'", "null");
      load(sql, "future", FUTURE, "'SCHEDULED'", "now() + interval '1 day'");
      sql.execute("vacuum analyze");
      cycle(db, ingest, worker, "with_history");
      ratio("empty_claim", emptyClaim, emptyClaimBuffers(sql));
      ratio("claim", claim, claimBuffers(db, ingest, sql));
      ratio("admit", admit, admitBuffers(sql));
      pause(db, ingest, sql, operator);
      forget(sql, worker);
    }
  }

  /** Admits, claims and completes so many tasks. */
  private void cycle(TestLedger db, Ledger ingest, Ledger worker, String name) {
    long begun = System.nanoTime();
    for (int batch = 0; batch < BATCHES; batch++) {
      db.submit(ingest, batch());
    }
    long admitted = System.nanoTime();
    report(name, "admitted_per_s", perSecond(admitted - begun), "1/s");
    long claimNanos = 0;
    long observeNanos = 0;
    int done = 0;
    while (true) {
      long claiming = System.nanoTime();
      List<ClaimAnswer> answers =
          worker.claimDue(
              "bench/" + claiming, "default", TestLedger.ALL_SLOTS, WorkFilter.ANY, BATCH);
      claimNanos += System.nanoTime() - claiming;
      if (answers.isEmpty()) {
        break;
      }
      List<Observation> seen = new ArrayList<>();
      for (ClaimAnswer answer : answers) {
        ClaimedTask task = ((ClaimAnswer.Claimed) answer).lease();
        seen.add(Observation.completed(task.task(), task.attempt(), new byte[] {1}));
      }
      long observing = System.nanoTime();
      worker.observe(seen);
      observeNanos += System.nanoTime() - observing;
      done += seen.size();
    }
    report(name, "claim_micros_per_task", claimNanos / 1_000.0 / done, "us");
    report(name, "observe_micros_per_task", observeNanos / 1_000.0 / done, "us");
    report(name, "done_per_s", done * 1e9 / (claimNanos + observeNanos), "1/s");
    worker.fold();
  }

  private Submission.Request[] batch() {
    Submission.Request[] batch = new Submission.Request[BATCH];
    for (int i = 0; i < BATCH; i++) {
      batch[i] = Requests.request("b" + requests++).value("x".repeat(100)).offset(i).build();
    }
    return batch;
  }

  private static double emptyClaimBuffers(Statement sql) throws SQLException {
    return buffers(sql, "select * from escapement.claim_due('b', 'default', '{7}', null, 10)");
  }

  private double claimBuffers(TestLedger db, Ledger ingest, Statement sql) throws SQLException {
    db.submit(ingest, batch());
    double buffers =
        buffers(sql, "select * from escapement.claim_due('b', 'default', null, null, 100)");
    sql.execute(
        "with due as (select id from escapement.task where state = 'SCHEDULED' and due_at <= now())"
            + " select escapement.claim('drain', null, array(select id from due))");
    sql.execute(
        "select escapement.observe(array_agg(id), array_agg(attempt),"
            + " array_agg('COMPLETED'::text), null, array_agg('x'::bytea))"
            + " from escapement.task where state = 'CLAIMED'");
    return buffers;
  }

  private static double admitBuffers(Statement sql) throws SQLException {
    return buffers(
        sql, "select * from escapement.submit('/b', gen_random_uuid()::text, 'acme', 'work', 'x')");
  }

  /** Of the last of several runs, each undone, when plans are kept and pages are in memory. */
  private static double buffers(Statement sql, String call) throws SQLException {
    double buffers = 0;
    for (int i = 0; i < 10; i++) {
      sql.execute("begin");
      try (ResultSet rows = sql.executeQuery("explain (analyze, buffers, costs off) " + call)) {
        boolean found = false;
        while (rows.next() && !found) {
          String line = rows.getString(1);
          if (line.contains("Buffers:")) {
            found = true;
            buffers = 0;
            Matcher count = BUFFERS.matcher(line);
            while (count.find()) {
              buffers += Double.parseDouble(count.group(1));
            }
          }
        }
      }
      sql.execute("rollback");
    }
    return buffers;
  }

  /** Tasks of a tenant of that name, with their attempts if they have ended. */
  private static void load(Statement sql, String tenant, int tasks, String state, String due)
      throws SQLException {
    for (int from = 0; from < tasks; from += LOAD_STEP) {
      int many = Math.min(LOAD_STEP, tasks - from);
      sql.execute(
          "with made as (insert into escapement.intent (id, namespace, event_id, tenant, kind,"
              + " slot, first_task, task_count, value, issued_at, last_issued_at, accepted_at)"
              + " select n.id, '/load', n.id::text, '"
              + tenant
              + "', 'work', n.id * 7919 % 256, n.id, 1, repeat('x', 100)::bytea,"
              + " now() - interval '9 days', now() - interval '9 days', now() - interval '9 days'"
              + " from (select nextval('escapement.task_id') as id from generate_series(1, "
              + many
              + ")) n returning id, slot),"
              + " tasks as (insert into escapement.task (id, intent_id, tenant, kind, channel,"
              + " queue, slot, bytes, state, due_at, attempt, tries_left)"
              + " select id, id, '"
              + tenant
              + "', 'work', 'local', 'default', slot, 100, "
              + state
              + ", "
              + due
              + ", 1, 5 from made),"
              + " attempts as (insert into escapement.attempt (task_id, number, worker, action,"
              + " due_at, claimed_at, finished_at, outcome) select id, 1, 'load', 'RUN', now(),"
              + " now(), now(), 'COMPLETED' from made where "
              + state
              + " = 'DONE')"
              + " insert into escapement.effect (task_id, attempt, bytes)"
              + " select id, 1, 'x' from made where "
              + state
              + " = 'DONE'");
    }
  }

  /** A hundred that may run behind very many that may not. */
  private void pause(TestLedger db, Ledger ingest, Statement sql, Ledger operator)
      throws SQLException {
    Submission.Request[] runnable = new Submission.Request[100];
    for (int i = 0; i < runnable.length; i++) {
      runnable[i] = Requests.request("p" + i).tenant("t" + i % 10).dueAt(Instant.now()).build();
    }
    db.submit(ingest, runnable);
    String claim = "select count(*) from escapement.claim_due('b', 'default', null, null, 100)";
    double without = medianMillis(sql, claim);
    report("pause", "claim_without", without, "ms");
    load(sql, "paused", PAUSED, "'SCHEDULED'", "now() - interval '1 hour'");
    operator.pause(PauseScope.TENANT, "paused", "bench");
    sql.execute("vacuum analyze escapement.task");
    double with = medianMillis(sql, claim);
    report("pause", "claim_behind_paused", with, "ms");
    report("pause", "ratio", with / without, "ratio");
  }

  private static double medianMillis(Statement sql, String call) throws SQLException {
    List<Double> millis = new ArrayList<>();
    for (int i = 0; i < 31; i++) {
      sql.execute("begin");
      long begun = System.nanoTime();
      sql.execute(call);
      millis.add((System.nanoTime() - begun) / 1e6);
      sql.execute("rollback");
    }
    return millis.stream().sorted().toList().get(millis.size() / 2);
  }

  private void forget(Statement sql, Ledger worker) throws SQLException {
    // What was loaded is older than what the bench admitted, though its ids are higher.
    sql.execute(
        "update escapement.retention set next_intent ="
            + " (select min(id) from escapement.intent where namespace = '/load')");
    long walBefore = wal(sql);
    long begun = System.nanoTime();
    long forgotten = 0;
    long longestNanos = 0;
    Forgotten one;
    int calls = 0;
    do {
      long call = System.nanoTime();
      one = worker.forget(1_000);
      longestNanos = Math.max(longestNanos, System.nanoTime() - call);
      forgotten += one.tasks();
    } while (!one.atEnd() && ++calls < FORGET_CALLS);
    long nanos = System.nanoTime() - begun;
    report("forget", "tasks_per_s", forgotten * 1e9 / nanos, "1/s");
    report("forget", "wal_bytes_per_task", (double) (wal(sql) - walBefore) / forgotten, "bytes");
    report("forget", "longest_call_of_1000", longestNanos / 1e6, "ms");
    try (ResultSet size =
        sql.executeQuery(
            "select sum(pg_total_relation_size('escapement.' || t))"
                + " from unnest(array['intent', 'task', 'attempt', 'effect']) t")) {
      size.next();
      report(
          "size",
          "bytes_per_task_loaded",
          size.getDouble(1) / (HISTORY + FUTURE + PAUSED),
          "bytes");
    }
    long vacuum = System.nanoTime();
    sql.execute("vacuum escapement.intent, escapement.task, escapement.attempt, escapement.effect");
    report("forget", "vacuum_afterwards", (System.nanoTime() - vacuum) / 1e6, "ms");
  }

  private static long wal(Statement sql) throws SQLException {
    try (ResultSet row =
        sql.executeQuery("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint")) {
      row.next();
      return row.getLong(1);
    }
  }

  private void ratio(String name, double before, double after) {
    report("buffers", name + "_empty", before, "buffers");
    report("buffers", name + "_with_history", after, "buffers");
    report("buffers", name + "_ratio", after / before, "ratio");
  }

  private static double perSecond(long nanos) {
    return BATCH * BATCHES * 1e9 / nanos;
  }

  private void report(String name, String metric, double value, String unit) {
    out.printf(
        Locale.ROOT,
        "{\"bench\":\"ledger\",\"case\":\"%s\",\"metric\":\"%s\",\"value\":%.3f,\"unit\":\"%s\"}%n",
        name,
        metric,
        value,
        unit);
  }
}
