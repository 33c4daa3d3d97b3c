package io.escapement.ledger;

import static io.escapement.ledger.Requests.request;
import static io.escapement.ledger.TestLedger.ALL_SLOTS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A process is stopped inside a transaction, with all its locks. The others get on after the
 * configured timeout, and what the process does when it wakes changes nothing.
 */
class LedgerZombieCrashTest {

  private static final Duration PATIENT = Duration.ofSeconds(30);
  private static final Duration IMPATIENT = Duration.ofSeconds(2);

  /** What the server allows a transaction that stands still; whole seconds, as Pools has it. */
  private static final Duration ZOMBIES_TIMEOUT = Duration.ofSeconds(1);

  private static final byte[] EFFECT = "done".getBytes(StandardCharsets.UTF_8);
  private static final int ROUNDS = 8;
  private static final String LOCK_TIMEOUT = "55P03";
  private static final String IN_TRANSACTION = "inside its transaction";

  private TestLedger db;
  private Ledger ingest;
  private Ledger worker;
  private Ledger operator;
  private ChildProcess zombie;
  private int claims;

  @BeforeEach
  void open() {
    zombie = ChildProcess.start();
    db = TestLedger.create();
    ingest = connect(Role.INGEST, PATIENT);
    worker = connect(Role.DISPATCHER, PATIENT);
    operator = connect(Role.OPERATOR, PATIENT);
    db.execute(
        "create table public.booking (task bigint, by text);"
            + " grant insert on public.booking to escapement_dispatcher");
    zombie.awaitReady();
  }

  @AfterEach
  void close() {
    zombie.close();
    ingest.close();
    worker.close();
    operator.close();
    db.close();
  }

  // Admission.

  @Test
  void aFrozenAdmissionHoldsUpOthersNoLongerThanItsTimeout() {
    operator.setTenant("acme", 100, 10_000, 1, "a new tenant is decided in two tries");
    freeze(LedgerZombieCrashTest::admission, true);
    assertThat(db.submit(ingest, request("other").build())).containsExactly(Decision.ACCEPTED);
    assertThat(db.submit(ingest, request("a").build()))
        .as("nothing of the zombie's promise is known")
        .containsExactly(Decision.ACCEPTED);
    assertThatItWakesInVain();
  }

  /** The control: without the timeout the others stay where they are. */
  @Test
  void withoutATimeoutAFrozenAdmissionHoldsUpAllOthers() {
    operator.setTenant("acme", 100, 10_000, 1, "a new tenant is decided in two tries");
    freeze(LedgerZombieCrashTest::admission, false);
    try (Ledger impatient = connect(Role.INGEST, IMPATIENT)) {
      assertBlocked(() -> db.submit(impatient, request("other").build()));
    }
  }

  private static String admission(ChildSession session, CommitBoundary boundary) {
    return String.valueOf(
        new Admit(session.statements(Role.INGEST, ZOMBIES_TIMEOUT, boundary))
            .apply(ChildSession.batch(request("a"))));
  }

  // Completion.

  @Test
  void aFrozenCompletionHoldsUpOthersNoLongerThanItsTimeout() {
    long task = submitOne("a");
    freeze((session, boundary) -> completion(session, boundary, task), true);
    assertThat(operator.cancel("/test", "a", true, "waits for the row"))
        .containsExactly(new CancelAnswer(task, CancelAnswer.Result.NOT_CANCELLED));
    db.execute("update escapement.task set lease_until = clock_timestamp() where id = " + task);
    assertThat(worker.reclaim("default", ALL_SLOTS, 10)).hasSize(1);
    ClaimedTask again = ((ClaimAnswer.Claimed) claim(task)).lease();
    assertThat(
            worker.complete(
                again,
                c -> {
                  book(c, task, "another");
                  return Observation.completed(task, again.attempt(), EFFECT);
                }))
        .isInstanceOf(ObserveAnswer.Applied.class);
    assertThatItWakesInVain();
    assertThat(db.column("select by from public.booking")).containsExactly("another");
    assertThat(db.column("select attempt from escapement.effect")).containsExactly("2");
  }

  /** The control: without the timeout the row stays locked, for the sweep and for operators. */
  @Test
  void withoutATimeoutAFrozenCompletionHoldsUpAllOthers() {
    long task = submitOne("a");
    freeze((session, boundary) -> completion(session, boundary, task), false);
    try (Ledger impatient = connect(Role.OPERATOR, IMPATIENT)) {
      assertBlocked(() -> impatient.cancel("/test", "a", true, "waits for the row"));
    }
  }

  private static String completion(ChildSession session, CommitBoundary boundary, long task) {
    ClaimedTask claimed = Objects.requireNonNull(session.claim(task));
    return String.valueOf(
        new Observe(session.statements(Role.DISPATCHER, ZOMBIES_TIMEOUT, boundary))
            .inTransaction(
                claimed,
                c -> {
                  book(c, task, "the zombie");
                  return Observation.completed(task, claimed.attempt(), EFFECT);
                }));
  }

  // An operator's act.

  @Test
  void aFrozenOperatorHoldsUpOthersNoLongerThanItsTimeout() {
    long task = submitOne("a");
    ClaimedTask claimed = ((ClaimAnswer.Claimed) claim(task)).lease();
    freeze(LedgerZombieCrashTest::cancellation, true);
    assertThat(
            worker.observe(List.of(Observation.completed(task, claimed.attempt(), EFFECT))).get(0))
        .as("the cancellation was never committed")
        .isEqualTo(new ObserveAnswer.Applied(task, 1, TaskState.DONE, null));
    assertThatItWakesInVain();
    assertThat(db.number("select count(*) from escapement.operator_action where action = 'cancel'"))
        .isZero();
  }

  /** The control: without the timeout the worker can't complete what it has done. */
  @Test
  void withoutATimeoutAFrozenOperatorHoldsUpTheWorker() {
    long task = submitOne("a");
    ClaimedTask claimed = ((ClaimAnswer.Claimed) claim(task)).lease();
    freeze(LedgerZombieCrashTest::cancellation, false);
    try (Ledger impatient = connect(Role.DISPATCHER, IMPATIENT)) {
      assertBlocked(
          () -> impatient.observe(List.of(Observation.completed(task, claimed.attempt(), EFFECT))));
    }
  }

  private static String cancellation(ChildSession session, CommitBoundary boundary) {
    return String.valueOf(
        new Cancel(session.statements(Role.OPERATOR, ZOMBIES_TIMEOUT, boundary))
            .apply("/test", "a", false, "zombie"));
  }

  // Anywhere.

  @Test
  void aProcessFrozenAnywhereHoldsUpOthersNoLongerThanItsTimeout() {
    long seed = Long.getLong("seed", System.nanoTime());
    SplittableRandom random = new SplittableRandom(seed);
    zombie.begin(db, LedgerZombieCrashTest::admitClaimAndCompleteForEver);
    for (int round = 0; round < ROUNDS; round++) {
      String what = "seed " + seed + ", round " + round;
      long done = db.number("select count(*) from escapement.effect");
      await(what)
          .atMost(ChildProcess.PATIENCE)
          .until(() -> db.number("select count(*) from escapement.effect") > done);
      LockSupport.parkNanos(random.nextLong(20_000_000));
      zombie.freeze();
      String id = "other" + round;
      assertThat(db.submit(ingest, request(id).build()))
          .as(what)
          .containsExactly(Decision.ACCEPTED);
      String latest =
          db.column(
                  "select event_id from escapement.intent where event_id like 'z%'"
                      + " order by substr(event_id, 2)::int desc limit 1")
              .get(0);
      assertThat(operator.cancel("/test", latest, false, what)).as(what).hasSize(1);
      assertThat(operator.cancel("/test", id, false, what))
          .as(what)
          .extracting(CancelAnswer::result)
          .containsExactly(CancelAnswer.Result.CANCELLED_UNSTARTED);
      zombie.awaitNoOpenTransaction(db);
      assertThat(operator.audit()).as(what).isEmpty();
      zombie.thaw();
    }
  }

  /** Whatever becomes of one of them, it goes on with the next; the test ends the process. */
  private static String admitClaimAndCompleteForEver(ChildSession session) {
    CommitBoundary none = CommitBoundary.none();
    Admit admit = new Admit(session.statements(Role.INGEST, ZOMBIES_TIMEOUT, none));
    Observe observe = new Observe(session.statements(Role.DISPATCHER, ZOMBIES_TIMEOUT, none));
    for (int i = 0; i < 1_000_000; i++) {
      try {
        admit.apply(ChildSession.batch(request("z" + i)));
        long task =
            Long.parseLong(
                session.text(
                    "select first_task from escapement.intent where event_id = 'z" + i + "'"));
        ClaimedTask claimed = session.claim(task);
        if (claimed != null) {
          observe.inTransaction(
              claimed,
              c -> {
                for (int n = 0; n < 5; n++) {
                  book(c, task, "the zombie");
                }
                return Observation.completed(task, claimed.attempt(), EFFECT);
              });
        }
      } catch (LedgerException | SQLException e) {
        // It woke too late, and its connection is gone.
      }
    }
    return "";
  }

  // Helpers.

  /** An operation whose transaction has something to happen before its commit. */
  @FunctionalInterface
  private interface Operation extends Serializable {
    String run(ChildSession session, CommitBoundary boundary);
  }

  /** Lets the process begin an operation, and stops it before the commit. */
  private void freeze(Operation operation, boolean withTimeout) {
    zombie.begin(
        db,
        session -> {
          CommitBoundary stop = CommitBoundary.before(c -> session.pause(IN_TRANSACTION));
          return operation.run(
              session, withTimeout ? stop : stop.opening(LedgerZombieCrashTest::unlimit));
        });
    zombie.awaitPause(IN_TRANSACTION);
    zombie.freeze();
  }

  private static void unlimit(Connection connection) throws SQLException {
    try (Statement s = connection.createStatement()) {
      s.execute("set idle_in_transaction_session_timeout = 0");
      // Else a rollback would set it back.
      connection.commit();
    }
  }

  /** Its commit fails, and every row stays as it is. */
  private void assertThatItWakesInVain() {
    Map<String, List<String>> before = LedgerImage.of(db);
    zombie.thaw();
    zombie.goOn();
    assertThat(zombie.failure()).contains(LedgerException.class.getName());
    assertThat(LedgerImage.of(db)).isEqualTo(before);
    operator.fold();
    assertThat(operator.audit()).isEmpty();
  }

  private static void assertBlocked(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            LedgerException.class, e -> assertThat(e.sqlState()).isEqualTo(LOCK_TIMEOUT));
  }

  private Ledger connect(Role role, Duration lockTimeout) {
    LedgerConfig c = db.config();
    return Ledger.connect(
        new LedgerConfig(
            c.url(), c.user(), c.password(), 1, c.connectTimeout(), PATIENT, lockTimeout),
        role);
  }

  private static void book(Connection connection, long task, String by) throws SQLException {
    try (PreparedStatement s =
        connection.prepareStatement("insert into public.booking values (?, ?)")) {
      s.setLong(1, task);
      s.setString(2, by);
      s.executeUpdate();
    }
  }

  private ClaimAnswer claim(long task) {
    return worker.claim("w/" + ++claims, WorkFilter.ANY, List.of(task)).get(0);
  }

  private long submitOne(String id) {
    assertThat(db.submit(ingest, request(id).build())).containsExactly(Decision.ACCEPTED);
    return db.number("select max(id) from escapement.task where state = 'SCHEDULED'");
  }
}
