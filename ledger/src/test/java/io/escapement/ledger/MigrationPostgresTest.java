package io.escapement.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** From nothing and from the release before, to the same schema, and no promise lost. */
class MigrationPostgresTest {

  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final String RULES =
      "select r::text from escapement.rule r order by contract, observation, key";

  private final TestLedger db = TestLedger.createEmpty();
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void close() {
    threads.shutdownNow();
    db.close();
  }

  @Test
  void theSchemaIsTheSameFromTheReleaseBeforeAsFromNothing() throws SQLException {
    ReleaseOne.migrate(db.config());
    assertThat(SchemaDump.of(db)).isNotEqualTo(schemaFromNothing());
    assertThat(Migrator.migrate(db.config())).isPositive();
    assertThatTheSchemaIsCurrent();
    assertThat(Migrator.migrate(db.config())).isZero();
  }

  @Test
  void tasksInEveryStateOfTheReleaseBeforeGoOn() throws SQLException {
    ReleaseOne.migrate(db.config());
    Instant later = Instant.now().plus(Duration.ofDays(1));
    Instant soon = Instant.now().plusSeconds(5);
    List<ReleaseOne.Claimed> held;
    List<ReleaseOne.Claimed> lost;
    try (ReleaseOne ingest = ReleaseOne.connect(db, Role.INGEST, LIMIT);
        ReleaseOne worker = ReleaseOne.connect(db, Role.DISPATCHER, LIMIT);
        ReleaseOne operator = ReleaseOne.connect(db, Role.OPERATOR, LIMIT)) {
      operator.defineKind("work", 5, Duration.ofMinutes(10), "FAILED");
      operator.defineKind("strict", 1, Duration.ofMillis(200), "QUARANTINED");
      ingest.admit(names("work", "done", "failed", "given-up", "cancelled", "handed-back"));
      worker.observe(claim(worker, "done"), "COMPLETED");
      worker.observe(claim(worker, "failed"), "FAILED"); // waits again
      worker.observe(claim(worker, "given-up"), "POISONED");
      worker.observe(claim(worker, "handed-back"), "RELEASED");
      operator.cancel("cancelled");
      ingest.admit(names("strict", "quarantined"));
      worker.observe(claim(worker, "quarantined"), "FAILED");
      ingest.admit(names("strict", "lost"));
      lost = claim(worker, "lost");
      ingest.admit(names("work", "held", "held-and-cancelled"));
      held = claim(worker, "held");
      claim(worker, "held-and-cancelled");
      operator.cancel("held-and-cancelled");
      ingest.admit(
          List.of(
              new ReleaseOne.Request("later", "work", later, null, 3),
              new ReleaseOne.Request("expiring", "work", later, later.plusSeconds(1), null),
              new ReleaseOne.Request("worthless", "work", null, soon, null)));
      ingest.admit(names("work", "done", "never-heard-of")); // a replay beside something new
      ingest.admit(names("no-such-kind", "dead-letter"));
    }
    assertThat(db.column("select distinct state::text from escapement.task order by 1"))
        .containsExactly("CANCELLED", "CLAIMED", "DONE", "FAILED", "QUARANTINED", "SCHEDULED");
    assertThat(db.number("select count(*) from escapement.release_slip")).isPositive();
    List<String> told = db.column("select events from escapement.outbox order by id");

    Migrator.migrate(db.config());

    assertThatTheSchemaIsCurrent();
    Ledger operator = db.connect(Role.OPERATOR);
    assertThat(operator.audit()).isEmpty();
    // What the relay has not sent yet, it sends: the rows are there, and it can read them.
    List<String> kept = db.column("select events from escapement.outbox order by id");
    assertThat(kept).startsWith(told.toArray(String[]::new));
    assertThat(kept).allSatisfy(row -> assertThat(OutboxRow.parse(row)).isNotEmpty());

    Ledger worker = db.connect(Role.DISPATCHER);
    ReleaseOne.Claimed one = held.get(0);
    assertThat(worker.renew(List.of(new LeaseKey(one.task(), one.attempt())))).hasSize(1);
    assertThat(worker.observe(List.of(completed(one.task(), one.attempt(), "held"))))
        .singleElement()
        .isEqualTo(new ObserveAnswer.Applied(one.task(), one.attempt(), TaskState.DONE, null));
    ReleaseOne.Claimed gone = lost.get(0);
    await()
        .atMost(PATIENCE)
        .until(
            () -> {
              worker.reclaim("default", TestLedger.ALL_SLOTS, 100);
              return state("lost").equals("QUARANTINED");
            });
    assertThat(worker.observe(List.of(completed(gone.task(), gone.attempt(), "lost"))))
        .singleElement()
        .isInstanceOf(ObserveAnswer.Late.class);
    long cancelled = task("held-and-cancelled");
    assertThat(worker.observe(List.of(completed(cancelled, 1, "held-and-cancelled"))))
        .singleElement()
        .extracting("state")
        .isEqualTo(TaskState.CANCELLED);
    Map<Long, Redriven> redriven =
        operator.redriveAll(new TaskFilter("strict", null, null), 10, "test");
    assertThat(redriven).hasSize(2).containsOnlyKeys(task("quarantined"), task("lost"));
    assertThat(operator.reschedule(task("later"), 0, Instant.now(), "test"))
        .isEqualTo(Rescheduled.RESCHEDULED);
    assertThat(operator.cancel("/shop", "expiring", false, "test")).hasSize(1);

    await()
        .atMost(PATIENCE)
        .until(
            () -> {
              work(worker);
              worker.reclaim("default", TestLedger.ALL_SLOTS, 100);
              return db.number("select count(*) from escapement.task where state < 'DONE'") == 0;
            });
    assertThat(
            db.column(
                """
                select event_id || ' ' || state from escapement.task t
                  join escapement.intent i on i.id = t.intent_id order by 1
                """))
        .contains(
            "cancelled CANCELLED",
            "done DONE",
            "expiring CANCELLED",
            "failed DONE",
            "given-up FAILED",
            "handed-back DONE",
            "held DONE",
            "held-and-cancelled CANCELLED",
            "later DONE",
            "lost DONE",
            "never-heard-of DONE",
            "quarantined DONE")
        // it was done, or it had expired before a slow machine came to it
        .containsAnyOf("worthless DONE", "worthless FAILED")
        .hasSize(13);
    assertThat(operator.audit()).isEmpty();
    worker.fold();
    assertThat(db.column("select used_tasks || ',' || used_bytes from escapement.budget"))
        .containsOnly("0,0");
  }

  @Test
  void whatTheReleaseBeforeCallsGoesOnWorkingAfterwards() throws SQLException {
    ReleaseOne.migrate(db.config());
    try (ReleaseOne ingest = ReleaseOne.connect(db, Role.INGEST, LIMIT);
        ReleaseOne worker = ReleaseOne.connect(db, Role.DISPATCHER, LIMIT);
        ReleaseOne operator = ReleaseOne.connect(db, Role.OPERATOR, LIMIT)) {
      operator.defineKind("work", 5, Duration.ofMinutes(10), "FAILED");
      Migrator.migrate(db.config());
      assertThat(ingest.admit(names("work", "a", "b"))).containsOnly("accepted");
      List<Long> due = worker.due();
      assertThat(due).hasSize(2);
      List<ReleaseOne.Claimed> claimed = worker.claim("w/1", due);
      assertThat(claimed).hasSize(2);
      assertThat(worker.renew(claimed)).containsOnly("RENEWED");
      assertThat(worker.observe(claimed, "COMPLETED")).containsOnly("APPLIED");
      worker.reclaim();
      worker.fold();
      assertThat(operator.cancel("a")).containsOnly("TOO_LATE");
    }
    assertThat(db.connect(Role.OPERATOR).audit()).isEmpty();
  }

  @Test
  void twoMigratorsAtOnceMakeOneSchemaFromNothing() throws Exception {
    migrateTwiceAtOnce();
  }

  @Test
  void twoMigratorsAtOnceMakeOneSchemaFromTheReleaseBefore() throws Exception {
    ReleaseOne.migrate(db.config());
    migrateTwiceAtOnce();
  }

  private void migrateTwiceAtOnce() throws Exception {
    CyclicBarrier start = new CyclicBarrier(2);
    Callable<Integer> migrator =
        () -> {
          start.await();
          return Migrator.migrate(db.config());
        };
    List<Future<Integer>> both = List.of(threads.submit(migrator), threads.submit(migrator));
    int applied = both.get(0).get() + both.get(1).get();
    assertThat(applied).isPositive();
    assertThatTheSchemaIsCurrent();
    assertThat(
            db.column(
                "select version from escapement.flyway_schema_history"
                    + " where version is not null group by version having count(*) > 1"))
        .isEmpty();
  }

  @Test
  void anOwnerWhoIsNoSuperuserIsEnough() throws SQLException {
    db.execute(
        """
        do $$ begin
          create role plain_owner login createrole;
        exception when duplicate_object then null;
        end $$
        """);
    // The roles belong to the server, and somebody made them before.
    TestLedger.create().close();
    db.execute(
        "do $$ begin execute format('alter database %I owner to plain_owner', current_database());"
            + " end $$");
    Migrator.migrate(LedgerConfig.of(db.config().url(), "plain_owner", ""));
    assertThat(
            db.column(
                "select distinct proowner::regrole from pg_proc"
                    + " where pronamespace = 'escapement'::regnamespace"))
        .containsExactly("plain_owner");
    try (Connection connection = db.connection()) {
      MainPath.walk(connection);
    }
  }

  /** A transaction elsewhere, however idle, keeps an index from being completed. */
  @Test
  void anIndexThatWasLeftInvalidIsBuiltAgain() throws Exception {
    ReleaseOne.migrate(db.config());
    Future<Integer> migrator;
    try (GivesWay log = new GivesWay();
        Connection elsewhere = db.connection();
        Statement s = elsewhere.createStatement()) {
      elsewhere.setAutoCommit(false);
      elsewhere.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      s.execute("select count(*) from pg_class");
      migrator = threads.submit(() -> Migrator.migrate(db.config()));
      await().atMost(PATIENCE).until(() -> log.times() > 0 && !invalidIndexes().isEmpty());
      elsewhere.rollback();
    }
    migrator.get();
    assertThat(invalidIndexes()).isEmpty();
    assertThatTheSchemaIsCurrent();
  }

  /** Its server or its process died in the middle of the step that is no transaction. */
  @Test
  void aMigratorThatDiedIsFollowedByOneThatEnds() throws Exception {
    ReleaseOne.migrate(db.config());
    stopWhileAnIndexIsBuilt("pg_terminate_backend");
    Migrator.migrate(db.config());
    assertThat(invalidIndexes()).isEmpty();
    assertThatTheSchemaIsCurrent();
  }

  /** Its step failed for another reason than a lock, and is noted as failed. */
  @Test
  void aMigratorThatFailedIsFollowedByOneThatEnds() throws Exception {
    ReleaseOne.migrate(db.config());
    stopWhileAnIndexIsBuilt("pg_cancel_backend");
    Migrator.migrate(db.config());
    assertThat(invalidIndexes()).isEmpty();
    assertThatTheSchemaIsCurrent();
  }

  private void stopWhileAnIndexIsBuilt(String how) throws SQLException {
    try (Connection elsewhere = db.connection();
        Statement s = elsewhere.createStatement()) {
      elsewhere.setAutoCommit(false);
      elsewhere.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      s.execute("select count(*) from pg_class");
      Future<Integer> migrator = threads.submit(() -> Migrator.migrate(db.config()));
      await()
          .atMost(PATIENCE)
          .until(
              () ->
                  !invalidIndexes().isEmpty()
                      && db.column(
                              "select "
                                  + how
                                  + "(pid) from pg_stat_activity"
                                  + " where datname = current_database()"
                                  + " and query like '%create index concurrently%'"
                                  + " and state = 'active' and pid <> pg_backend_pid()")
                          .contains("t"));
      assertThatThrownBy(migrator::get)
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(LedgerUnavailableException.class);
      elsewhere.rollback();
    }
  }

  private List<String> invalidIndexes() {
    return db.column("select indexrelid::regclass from pg_index where not indisvalid");
  }

  private void assertThatTheSchemaIsCurrent() throws SQLException {
    assertThat(SchemaDump.of(db)).isEqualTo(schemaFromNothing());
    try (TestLedger other = TestLedger.create()) {
      assertThat(db.column(RULES)).isNotEmpty().isEqualTo(other.column(RULES));
    }
    assertThat(
            db.column("select description from escapement.flyway_schema_history where not success"))
        .isEmpty();
  }

  private static String schemaFromNothing() throws SQLException {
    try (TestLedger other = TestLedger.create()) {
      return SchemaDump.of(other);
    }
  }

  private static List<ReleaseOne.Request> names(String kind, String... ids) {
    List<ReleaseOne.Request> requests = new ArrayList<>();
    for (String id : ids) {
      requests.add(new ReleaseOne.Request(id, kind, null, null, null));
    }
    return requests;
  }

  private List<ReleaseOne.Claimed> claim(ReleaseOne worker, String id) throws SQLException {
    List<ReleaseOne.Claimed> claimed = worker.claim("old/" + id, List.of(task(id)));
    assertThat(claimed).as(id).hasSize(1);
    return claimed;
  }

  /** Claims what is due and completes it. */
  private static void work(Ledger worker) {
    List<Observation> done = new ArrayList<>();
    Collection<ClaimAnswer> answers =
        worker.claimDue(
            "new/" + System.nanoTime(), "default", TestLedger.ALL_SLOTS, WorkFilter.ANY, 100);
    for (ClaimAnswer answer : answers) {
      if (answer instanceof ClaimAnswer.Claimed claimed) {
        ClaimedTask task = claimed.lease();
        done.add(completed(task.task(), task.attempt(), task.id()));
      }
    }
    worker.observe(done);
  }

  private static Observation completed(long task, int attempt, String effect) {
    return Observation.completed(task, attempt, effect.getBytes(StandardCharsets.UTF_8));
  }

  private long task(String id) {
    return db.number("select first_task from escapement.intent where event_id = '" + id + "'");
  }

  private String state(String id) {
    return db.column("select state from escapement.task where id = " + task(id)).get(0);
  }
}
