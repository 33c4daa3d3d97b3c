package io.escapement.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The release before goes on working while its schema is brought to this one. Between the first
 * step and the last, some of what it calls is not there: such a call fails at once, and is made
 * again. What no call may do is wait for long.
 */
class MigrationUnderLoadPostgresTest {

  /** A migration waits two seconds for a lock, and holds others meanwhile. */
  private static final Duration LONGEST_CALL = Duration.ofSeconds(8);

  /** Each time it gives way it has waited two seconds: together, longer than a call may take. */
  private static final int WAITS = 4;

  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final int BATCH = 5;
  private static final String MUCH_LATER =
      "(select first_task from escapement.intent where event_id = 'much-later')";
  private static final String ENDED_BY_TIMEOUT = "57014";

  /**
   * What calls may meet while the schema is between the releases: no such function, column or
   * table; a plan of what was there before; a rule that is not loaded yet; a deadlock with the
   * migration; a catalog entry that went while it was being read.
   */
  private static final Set<String> PASSING =
      Set.of("42883", "42703", "42P01", "0A000", "ES001", "40P01", "40001", "XX000", "42804");

  private final TestLedger db = TestLedger.createEmpty();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Queue<String> accepted = new ConcurrentLinkedQueue<>();
  private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
  private final Set<String> passing = new TreeSet<>();
  private final AtomicInteger heldUp = new AtomicInteger();
  private final AtomicInteger completed = new AtomicInteger();
  private volatile boolean admitting = true;
  private volatile boolean working = true;

  @BeforeEach
  void migrateToTheReleaseBefore() throws SQLException {
    ReleaseOne.migrate(db.config());
    try (ReleaseOne operator = ReleaseOne.connect(db, Role.OPERATOR, LONGEST_CALL);
        ReleaseOne ingest = ReleaseOne.connect(db, Role.INGEST, LONGEST_CALL)) {
      operator.defineKind("work", 1000, Duration.ofSeconds(30), "FAILED");
      ingest.admit(
          List.of(
              new ReleaseOne.Request(
                  "much-later", "work", Instant.now().plus(Duration.ofDays(1)), null, null)));
    }
  }

  @AfterEach
  void close() {
    admitting = false;
    working = false;
    threads.shutdownNow();
    db.close();
  }

  @Test
  void aMigrationGivesWayToWorkAndEndsAndNothingIsLost() throws Exception {
    List<Future<?>> load = startLoad(LONGEST_CALL);
    awaitProgress();
    Future<Integer> migrator;
    try (GivesWay log = new GivesWay();
        Connection elsewhere = db.connection()) {
      holdARow(elsewhere);
      migrator = threads.submit(() -> Migrator.migrate(db.config()));
      await().atMost(PATIENCE).until(() -> log.times() >= WAITS);
      awaitProgress();
      elsewhere.rollback();
    }
    assertThat(migrator.get()).isPositive();
    awaitProgress();
    admitting = false;
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                db.number(
                        "select count(*) from escapement.task where state < 'DONE' and id <> "
                            + MUCH_LATER)
                    == 0);
    working = false;
    for (Future<?> one : load) {
      one.get();
    }

    assertThat(wrong).as("after %s", passing).isEmpty();
    assertThat(heldUp).as("calls that took longer than %s", LONGEST_CALL).hasValue(0);
    assertThat(db.connect(Role.OPERATOR).audit()).isEmpty();
    assertThat(
            db.column(
                """
                select event_id from escapement.intent i join escapement.task t on t.intent_id = i.id
                  join escapement.effect e on e.task_id = t.id
                where t.state = 'DONE' and convert_from(e.bytes, 'UTF8') = event_id
                """))
        .hasSizeGreaterThan(BATCH)
        .containsExactlyInAnyOrderElementsOf(accepted);
    try (TestLedger other = TestLedger.create()) {
      assertThat(SchemaDump.of(db)).isEqualTo(SchemaDump.of(other));
    }
  }

  /** The control: the same load, behind a change of the table that does not give way. */
  @Test
  void aChangeThatWaitsForItsLockHoldsEverybodyUp() throws Exception {
    List<Future<?>> load = startLoad(Duration.ofSeconds(2));
    awaitProgress();
    try (Connection elsewhere = db.connection()) {
      holdARow(elsewhere);
      Future<?> change =
          threads.submit(() -> db.execute("alter table escapement.task add column impatient int"));
      await().atMost(PATIENCE).until(() -> heldUp.get() > 0);
      elsewhere.rollback();
      change.get();
    }
    admitting = false;
    working = false;
    for (Future<?> one : load) {
      one.get();
    }
    assertThat(wrong).isEmpty();
  }

  private static void holdARow(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
    try (Statement s = connection.createStatement()) {
      s.execute("select from escapement.task where id = " + MUCH_LATER + " for update");
    }
  }

  private List<Future<?>> startLoad(Duration longestCall) {
    return List.of(
        threads.submit(() -> admit(longestCall)),
        threads.submit(() -> work("w1", longestCall)),
        threads.submit(() -> work("w2", longestCall)));
  }

  private void awaitProgress() {
    int now = completed.get();
    await().atMost(PATIENCE).until(() -> completed.get() >= now + 2 * BATCH);
  }

  private Void admit(Duration longestCall) throws SQLException {
    try (ReleaseOne ingest = ReleaseOne.connect(db, Role.INGEST, longestCall)) {
      for (int batch = 0; admitting; batch++) {
        List<ReleaseOne.Request> requests = new ArrayList<>();
        for (int i = 0; i < BATCH; i++) {
          requests.add(ReleaseOne.Request.of(batch + "-" + i));
        }
        List<String> decisions = again(() -> ingest.admit(requests));
        for (int i = 0; i < decisions.size(); i++) {
          if (decisions.get(i).equals("accepted")) {
            accepted.add(requests.get(i).id());
          } else {
            wrong.add("admit: " + decisions.get(i));
          }
        }
        LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
      }
    }
    return null;
  }

  private Void work(String name, Duration longestCall) throws SQLException {
    try (ReleaseOne worker = ReleaseOne.connect(db, Role.DISPATCHER, longestCall)) {
      for (int claim = 0; working; claim++) {
        String owner = name + "/" + claim;
        List<Long> due = again(worker::due);
        List<ReleaseOne.Claimed> claimed = again(() -> worker.claim(owner, due));
        if (claim % 4 == 0) {
          again(() -> worker.renew(claimed));
          again(
              () -> {
                worker.reclaim();
                worker.fold();
                return List.of();
              });
        }
        List<String> answers = again(() -> worker.observe(claimed, "COMPLETED"));
        completed.addAndGet((int) answers.stream().filter("APPLIED"::equals).count());
        LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
      }
    }
    return null;
  }

  private interface Call<T> {
    List<T> make() throws SQLException;
  }

  /** Makes a call until it works; nothing, if the test ended meanwhile. */
  private <T> List<T> again(Call<T> call) {
    while (working) {
      try {
        return call.make();
      } catch (SQLException e) {
        String state = String.valueOf(e.getSQLState());
        if (state.equals(ENDED_BY_TIMEOUT)) {
          heldUp.incrementAndGet();
        } else if (PASSING.contains(state)) {
          synchronized (passing) {
            passing.add(state);
          }
        } else {
          wrong.add(state + " " + e.getMessage());
        }
        LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
      }
    }
    return List.of();
  }
}
