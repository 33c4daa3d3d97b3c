package io.escapement.ledger;

import static io.escapement.ledger.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TaskLifePostgresTest {

  private static final List<Integer> ALL_SLOTS =
      java.util.stream.IntStream.range(0, 256).boxed().toList();
  private static final List<String> KINDS = List.of("work");
  private static final byte[] EFFECT = "done".getBytes(StandardCharsets.UTF_8);

  private TestLedger db;
  private Ledger ingest;
  private Ledger worker;
  private Ledger operator;
  private int claims;

  @BeforeEach
  void open() {
    db = TestLedger.create();
    ingest = db.connect(Role.INGEST);
    worker = db.connect(Role.DISPATCHER);
    operator = db.connect(Role.OPERATOR);
  }

  @AfterEach
  void auditAndClose() {
    assertThat(operator.audit()).isEmpty();
    db.close();
  }

  @Test
  void aClaimedTaskCompletesWithItsEffectInOneTransaction() {
    ClaimedTask claimed = claimNew(request("a").value("payload"));
    assertThat(claimed.attempt()).isEqualTo(1);
    assertThat(claimed.value()).isEqualTo("payload".getBytes(StandardCharsets.UTF_8));
    assertThat(claimed.idempotencyKey()).endsWith("-" + claimed.task());

    assertThat(settle(Observation.completed(claimed.task(), 1, EFFECT)))
        .isEqualTo(new ObserveAnswer.Applied(claimed.task(), 1, TaskState.DONE, null));

    assertThat(db.number("select count(*) from escapement.effect")).isEqualTo(1);
    assertThat(operator.fold()).isTrue();
    assertThat(db.column("select used_tasks || ',' || used_bytes from escapement.budget"))
        .containsOnly("0,0");
    assertThat(settle(Observation.completed(claimed.task(), 1, EFFECT)))
        .isEqualTo(new ObserveAnswer.Repeated(claimed.task(), 1, TaskState.DONE, "COMPLETED"));
  }

  @Test
  void nothingIsClaimedBeforeItIsDue() {
    Instant due = Instant.now().plus(Duration.ofHours(1));
    db.submit(ingest, request("a").dueAt(due).build());
    long task = onlyTask();
    assertThat(worker.claim("w/1", KINDS, List.of(task, task + 1_000)))
        .satisfiesExactly(
            a -> assertThat(a).isInstanceOf(ClaimAnswer.NotDue.class),
            a -> assertThat(a).isInstanceOf(ClaimAnswer.NotClaimable.class));
    Horizon near =
        worker.horizon(
            "default", ALL_SLOTS, WorkFilter.ofKinds(KINDS), Instant.now().plusSeconds(60), 1_000);
    assertThat(near.entries()).isEmpty();
    Horizon far =
        worker.horizon("default", ALL_SLOTS, WorkFilter.ofKinds(KINDS), due.plusSeconds(1), 1_000);
    assertThat(far.entries()).singleElement().extracting("task").isEqualTo(task);
  }

  @Test
  void whatAWorkerHasNoHandlerForIsNotClaimed() {
    db.submit(ingest, request("a").build());
    assertThat(worker.claim("w/1", List.of("another"), List.of(onlyTask())))
        .singleElement()
        .isInstanceOf(ClaimAnswer.NotClaimable.class);
    assertThat(
            worker
                .horizon(
                    "default",
                    ALL_SLOTS,
                    WorkFilter.ofKinds(List.of("another")),
                    Instant.now(),
                    100)
                .entries())
        .isEmpty();
  }

  @Test
  void aWorkersNameMayHoldAnything() {
    db.submit(ingest, request("a").build());
    String odd = "nul \0 lone \uD800 tab \t";
    assertThat(worker.claim(odd, KINDS, List.of(onlyTask())).get(0))
        .isInstanceOf(ClaimAnswer.Claimed.class);
    assertThat(worker.claimedBy(odd)).hasSize(1);
    worker.observe(List.of(Observation.failed(onlyTask(), 1, "no")));
    assertThat(db.column("select worker from escapement.attempt"))
        .containsExactly("nul \uFFFD lone \uFFFD tab \t");
  }

  @Test
  void aTaskIsHeldByOneClaimOnly() {
    ClaimedTask claimed = claimNew(request("a"));
    assertThat(worker.claim("w/other", KINDS, List.of(claimed.task())))
        .singleElement()
        .isInstanceOf(ClaimAnswer.NotClaimable.class);
    assertThat(worker.claimedBy("w/1"))
        .singleElement()
        .extracting("task")
        .isEqualTo(claimed.task());
  }

  @Test
  void aFailedTaskIsTriedAgainAfterItsBackoffUntilItsTriesAreUsedUp() {
    operator.defineKind(
        KindDefinition.local("work")
            .withMaxAttempts(3)
            .withBackoff(Duration.ofMillis(200), Duration.ofSeconds(10), 0),
        "test");
    ClaimedTask first = claimNew(request("a"));
    assertBackoff(settle(Observation.failed(first.task(), 1, "no\0 good")), 200);
    ClaimedTask second = claimWhenDue(first.task());
    assertBackoff(settle(Observation.failed(second.task(), 2, "x".repeat(10_000_000))), 400);
    ClaimedTask third = claimWhenDue(first.task());
    assertThat(settle(Observation.failed(third.task(), 3, "\uD800 still")))
        .isEqualTo(new ObserveAnswer.Applied(first.task(), 3, TaskState.FAILED, null));
    assertThat(db.column("select outcome from escapement.attempt order by number"))
        .containsExactly("FAILED", "FAILED", "FAILED");
    assertThat(db.number("select max(octet_length(detail)) from escapement.attempt"))
        .isLessThanOrEqualTo(Limits.DETAIL_BYTES);
    assertThat(db.number("select count(*) from escapement.effect")).isZero();
  }

  @Test
  void whatIsExhaustedIsQuarantinedWhereItsKindSaysSoAndKeepsItsSeat() {
    operator.defineKind(
        new KindDefinition(
            "work",
            "default",
            "local",
            1,
            Duration.ofSeconds(5),
            Duration.ofSeconds(10),
            Duration.ZERO,
            Duration.ZERO,
            0,
            KindDefinition.Exhaustion.QUARANTINED),
        "test");
    ClaimedTask claimed = claimNew(request("a"));
    assertThat(settle(Observation.poisoned(claimed.task(), 1, "bad")))
        .isEqualTo(new ObserveAnswer.Applied(claimed.task(), 1, TaskState.QUARANTINED, null));
    operator.fold();
    assertThat(db.column("select used_tasks from escapement.budgets")).containsOnly("1");
  }

  @Test
  void lateWorkerCannotCompleteAReclaimedTask() {
    shortLease(Duration.ofMillis(200));
    ClaimedTask slow = claimNew(request("a"));
    awaitLeaseEnd(slow.task());
    assertThat(worker.reclaim("default", ALL_SLOTS, 100))
        .singleElement()
        .extracting("task")
        .isEqualTo(slow.task());
    ClaimedTask quick = claimWhenDue(slow.task());
    assertThat(quick.attempt()).isEqualTo(2);

    assertThat(settle(Observation.completed(slow.task(), 1, EFFECT)))
        .isInstanceOf(ObserveAnswer.Late.class);
    assertThat(db.number("select count(*) from escapement.effect")).isZero();
    assertThat(settle(Observation.completed(quick.task(), 2, EFFECT)))
        .isInstanceOf(ObserveAnswer.Applied.class);
    assertThat(
            db.column(
                "select outcome || '/' || coalesce(late_outcome, '-') from escapement.attempt"
                    + " order by number"))
        .containsExactly("LEASE_EXPIRED/COMPLETED", "COMPLETED/-");
  }

  @Test
  void aLeaseThatIsOverCannotCompleteEvenIfNobodyTookOver() {
    shortLease(Duration.ofMillis(100));
    ClaimedTask slow = claimNew(request("a"));
    awaitLeaseEnd(slow.task());
    assertThat(settle(Observation.completed(slow.task(), 1, EFFECT)))
        .isInstanceOfSatisfying(
            ObserveAnswer.Late.class,
            late -> assertThat(late.state()).isEqualTo(TaskState.SCHEDULED));
    assertThat(db.number("select count(*) from escapement.effect")).isZero();
  }

  /** The control: without the attempt in the fence the overtaken worker's result is taken. */
  @Test
  void withoutTheFenceALateWorkerOverwrites() throws Exception {
    shortLease(Duration.ofMillis(100));
    ClaimedTask slow = claimNew(request("a"));
    awaitLeaseEnd(slow.task());
    worker.reclaim("default", ALL_SLOTS, 100);
    claimWhenDue(slow.task());
    try (var connection = db.connection();
        Statement s = connection.createStatement()) {
      connection.setAutoCommit(false);
      s.execute(
          "insert into escapement.effect (task_id, attempt, bytes) values ("
              + slow.task()
              + ", 1, '')");
      s.execute(
          "update escapement.task set state = 'DONE', due_at = null, lease_owner = null,"
              + " lease_until = null, claimed_at = null, action = null where id = "
              + slow.task());
      connection.commit();
    }
    assertThat(operator.audit()).isNotEmpty();
    db.execute(
        "delete from escapement.effect; delete from escapement.attempt;"
            + " delete from escapement.task; delete from escapement.intent;"
            + " delete from escapement.release_slip;"
            + " update escapement.budget set used_tasks = 0, used_bytes = 0");
  }

  @Test
  void renewalKeepsALeaseAndTellsOfLossAndOfCancellation() {
    ClaimedTask claimed = claimNew(request("a"));
    assertThat(renew(claimed)).isInstanceOf(RenewAnswer.Renewed.class);
    assertThat(operator.cancel("/test", "a", false, "test"))
        .containsExactly(new CancelAnswer(claimed.task(), CancelAnswer.Result.REQUESTED));
    assertThat(renew(claimed)).isInstanceOf(RenewAnswer.CancelRequested.class);
    assertThat(settle(Observation.completed(claimed.task(), 1, EFFECT)))
        .isEqualTo(new ObserveAnswer.Applied(claimed.task(), 1, TaskState.CANCELLED, null));
    assertThat(db.number("select count(*) from escapement.effect")).isZero();
    assertThat(renew(claimed)).isInstanceOf(RenewAnswer.Lost.class);
  }

  @Test
  void aRenewalSkipsWhatIsLockedAndCallsItBusy() throws Exception {
    ClaimedTask claimed = claimNew(request("a"));
    try (var connection = db.connection();
        Statement s = connection.createStatement()) {
      connection.setAutoCommit(false);
      s.execute("select from escapement.task for update");
      assertThat(renew(claimed)).isInstanceOf(RenewAnswer.Busy.class);
      connection.rollback();
    }
    assertThat(renew(claimed)).isInstanceOf(RenewAnswer.Renewed.class);
  }

  @Test
  void whatIsHandedBackUnstartedCostsNoTry() {
    ClaimedTask claimed = claimNew(request("a").maxAttempts(1));
    assertThat(settle(Observation.released(claimed.task(), 1)))
        .isInstanceOfSatisfying(
            ObserveAnswer.Applied.class, a -> assertThat(a.state()).isEqualTo(TaskState.SCHEDULED));
    ClaimedTask again = claimWhenDue(claimed.task());
    assertThat(again.attempt()).isEqualTo(2);
    assertThat(settle(Observation.completed(again.task(), 2, EFFECT)))
        .isInstanceOf(ObserveAnswer.Applied.class);
  }

  @Test
  void whatHasExpiredIsSettledByTheClaimOrTheSweepAndNeverRuns() {
    Instant past = Instant.now().minusSeconds(60);
    db.submit(ingest, request("a").issuedAt(past).expiresAt(past.plusSeconds(1)).build());
    long task = onlyTask();
    assertThat(worker.claim("w/1", KINDS, List.of(task)))
        .containsExactly(new ClaimAnswer.Settled(task, TaskState.FAILED));
    db.submit(ingest, request("b").issuedAt(past).expiresAt(past.plusSeconds(1)).build());
    assertThat(worker.reclaim("default", ALL_SLOTS, 10)).isEmpty();
    assertThat(db.column("select state from escapement.task")).containsOnly("FAILED");
    assertThat(db.column("select outcome || action from escapement.attempt"))
        .containsOnly("TTL_EXPIREDNONE");
  }

  @Test
  void aHandlersOwnWritesCommitWithTheCompletionOrNotAtAll() {
    db.execute(
        "create table public.booking (id text primary key);"
            + "grant insert on public.booking to escapement_dispatcher");
    ClaimedTask good = claimNew(request("a"));
    assertThat(
            worker.complete(
                good,
                c -> {
                  insertBooking(c, "a");
                  return Observation.completed(good.task(), 1, EFFECT);
                }))
        .isInstanceOf(ObserveAnswer.Applied.class);
    ClaimedTask failing = claimNew(request("b"));
    assertThat(
            worker.complete(
                failing,
                c -> {
                  insertBooking(c, "b");
                  return Observation.failed(failing.task(), 1, "no");
                }))
        .isInstanceOf(ObserveAnswer.Applied.class);
    ClaimedTask broken = claimNew(request("c"));
    assertThat(
            worker.complete(
                broken,
                c -> {
                  insertBooking(c, "c");
                  insertBooking(c, "a"); // violates the key
                  return Observation.completed(broken.task(), 1, EFFECT);
                }))
        .isInstanceOfSatisfying(
            ObserveAnswer.Applied.class, a -> assertThat(a.state()).isEqualTo(TaskState.SCHEDULED));
    ClaimedTask sly = claimNew(request("d"));
    assertThat(
            worker.complete(
                sly,
                c -> {
                  insertBooking(c, "d");
                  c.commit();
                  return Observation.completed(sly.task(), 1, EFFECT);
                }))
        .isInstanceOf(ObserveAnswer.Applied.class);
    assertThat(db.column("select id from public.booking")).containsExactly("a");
  }

  @Test
  void anErrorInAHandlerRollsItsWritesBack() {
    db.execute(
        "create table public.booking (id text primary key);"
            + "grant insert on public.booking to escapement_dispatcher");
    ClaimedTask task = claimNew(request("a"));
    worker.complete(
        task,
        c -> {
          insertBooking(c, "a");
          throw new StackOverflowError("deep");
        });
    assertThat(db.column("select id from public.booking")).isEmpty();
    assertThat(db.column("select outcome from escapement.attempt")).containsExactly("FAILED");
  }

  @Test
  void whatAHandlerWroteIsUndoneIfItsLeaseEndsWhileItRuns() {
    db.execute(
        "create table public.booking (id text primary key);"
            + "grant insert on public.booking to escapement_dispatcher");
    shortLease(Duration.ofMillis(300));
    operator.defineKind(
        new KindDefinition(
            "work",
            "default",
            "local",
            5,
            Duration.ofMillis(300),
            Duration.ofMillis(300),
            Duration.ZERO,
            Duration.ZERO,
            0,
            KindDefinition.Exhaustion.FAILED),
        "test");
    ClaimedTask slow = claimNew(request("a"));
    ObserveAnswer answer =
        worker.complete(
            slow,
            c -> {
              insertBooking(c, "a");
              awaitLeaseEnd(slow.task());
              return Observation.completed(slow.task(), 1, EFFECT);
            });
    assertThat(answer).isInstanceOf(ObserveAnswer.Late.class);
    assertThat(db.column("select id from public.booking")).isEmpty();
    assertThat(db.number("select count(*) from escapement.effect")).isZero();
    assertThat(db.column("select state from escapement.task")).containsExactly("SCHEDULED");
  }

  @Test
  void aHandlerThatEndsTheTransactionItselfIsNotTakenAsDone() {
    ClaimedTask sly = claimNew(request("a"));
    assertThatThrownBy(
            () ->
                worker.complete(
                    sly,
                    c -> {
                      try (Statement s = c.createStatement()) {
                        s.execute("rollback");
                      }
                      return Observation.completed(sly.task(), 1, EFFECT);
                    }))
        .isInstanceOf(LedgerException.class);
    assertThat(db.number("select count(*) from escapement.effect")).isZero();
    assertThat(settle(Observation.failed(sly.task(), 1, "it ended the transaction")))
        .isInstanceOf(ObserveAnswer.Applied.class);
  }

  @Test
  void aHandlerThatSwallowsASqlErrorFailsItsOwnTaskOnly() {
    ClaimedTask task = claimNew(request("a"));
    ObserveAnswer answer =
        worker.complete(
            task,
            c -> {
              try (Statement s = c.createStatement()) {
                s.execute("select 1/0");
              } catch (SQLException ignored) {
                return Observation.completed(task.task(), 1, EFFECT);
              }
              throw new IllegalStateException("1/0 is known to fail");
            });
    assertThat(answer)
        .isInstanceOfSatisfying(
            ObserveAnswer.Applied.class, a -> assertThat(a.state()).isEqualTo(TaskState.SCHEDULED));
    assertThat(db.column("select outcome from escapement.attempt")).containsExactly("FAILED");
  }

  @Test
  void namesThatLookLikeTheOutboxesOwnMarksComeThroughUnharmed() {
    String strange = "\\N";
    operator.defineKind(
        KindDefinition.local("work").withBackoff(Duration.ZERO, Duration.ZERO, 0), "test");
    ClaimedTask task = claimNew(request(strange).tenant(strange).namespace(strange));
    settle(Observation.failed(task.task(), 1, strange));
    settle(Observation.poisoned(claimWhenDue(task.task()).task(), 2, strange));
    List<OutboxEvent> events =
        db.column("select events from escapement.outbox order by id").stream()
            .flatMap(row -> OutboxRow.parse(row).stream())
            .toList();
    assertThat(events)
        .filteredOn(e -> e instanceof OutboxEvent.Hint)
        .hasSize(2)
        .allSatisfy(e -> assertThat(((OutboxEvent.Hint) e).tenant()).isEqualTo(strange));
    assertThat(events)
        .filteredOn(e -> e instanceof OutboxEvent.Outcome)
        .singleElement()
        .isInstanceOfSatisfying(
            OutboxEvent.Outcome.class,
            o -> {
              assertThat(o.tenant()).isEqualTo(strange);
              assertThat(o.namespace()).isEqualTo(strange);
              assertThat(o.detail()).isEqualTo(strange);
            });
  }

  @Test
  void theDoorRefusesWhatAWorkerCannotHaveSeen() {
    ClaimedTask task = claimNew(request("a"));
    assertThatThrownBy(
            () ->
                db.column(
                    "select answer from escapement.observe(array["
                        + task.task()
                        + "], array[1], array['LEASE_EXPIRED'], array[null::text],"
                        + " array[null::bytea])"))
        .hasStackTraceContaining("is not what a worker can see");
  }

  @Test
  void cancelAnswersWhatBecameOfEachTask() {
    db.submit(ingest, request("waiting").dueAt(Instant.now().plusSeconds(60)).build());
    assertThat(operator.cancel("/test", "waiting", true, "r"))
        .extracting(CancelAnswer::result)
        .containsExactly(CancelAnswer.Result.CANCELLED_UNSTARTED);
    assertThat(operator.cancel("/test", "waiting", false, "r"))
        .extracting(CancelAnswer::result)
        .containsExactly(CancelAnswer.Result.ALREADY_CANCELLED);
    assertThat(operator.cancel("/test", "unheard of", false, "r"))
        .extracting(CancelAnswer::result)
        .containsExactly(CancelAnswer.Result.NOT_FOUND);
    ClaimedTask done = claimNew(request("done"));
    assertThat(operator.cancel("/test", "done", true, "r"))
        .extracting(CancelAnswer::result)
        .containsExactly(CancelAnswer.Result.NOT_CANCELLED);
    settle(Observation.completed(done.task(), 1, EFFECT));
    assertThat(operator.cancel("/test", "done", false, "r"))
        .extracting(CancelAnswer::result)
        .containsExactly(CancelAnswer.Result.TOO_LATE);
    assertThat(db.number("select count(*) from escapement.operator_action where action = 'cancel'"))
        .isEqualTo(5);
  }

  @Test
  void aFullSlotTellsHowFarTheHorizonIsComplete() {
    Instant base = Instant.now().plusSeconds(10);
    Submission.Request[] many = new Submission.Request[40];
    for (int i = 0; i < many.length; i++) {
      many[i] = request("n" + i).dueAt(base.plusMillis(i)).build();
    }
    db.submit(ingest, many);
    db.execute("update escapement.task set slot = 7");
    Horizon horizon =
        worker.horizon("default", List.of(7), WorkFilter.ofKinds(KINDS), base.plusSeconds(60), 20);
    assertThat(horizon.entries()).hasSize(20);
    assertThat(horizon.completeUntil()).isBefore(base.plusMillis(20));
  }

  private static void insertBooking(java.sql.Connection connection, String id) throws SQLException {
    try (var statement = connection.prepareStatement("insert into public.booking values (?)")) {
      statement.setString(1, id);
      statement.executeUpdate();
    }
  }

  private void shortLease(Duration lease) {
    operator.defineKind(KindDefinition.local("work").withLease(lease), "test");
  }

  private ClaimedTask claimNew(Requests request) {
    assertThat(db.submit(ingest, request.build())).containsExactly(Decision.ACCEPTED);
    return claimWhenDue(db.number("select max(id) from escapement.task where state = 'SCHEDULED'"));
  }

  private ClaimedTask claimWhenDue(long task) {
    ClaimAnswer answer =
        await()
            .atMost(Duration.ofSeconds(20))
            .until(
                () -> worker.claim("w/" + ++claims, KINDS, List.of(task)).get(0),
                a -> a instanceof ClaimAnswer.Claimed);
    return ((ClaimAnswer.Claimed) answer).lease();
  }

  private void awaitLeaseEnd(long task) {
    await()
        .atMost(Duration.ofSeconds(20))
        .until(
            () ->
                db.number(
                        "select count(*) from escapement.task where lease_until <= clock_timestamp()"
                            + " and id = "
                            + task)
                    == 1);
  }

  private long onlyTask() {
    return db.number("select id from escapement.task");
  }

  private ObserveAnswer settle(Observation observation) {
    return worker.observe(List.of(observation)).get(0);
  }

  private RenewAnswer renew(ClaimedTask task) {
    return worker.renew(List.of(new LeaseKey(task.task(), task.attempt()))).get(0);
  }

  /** Both times are read by the same statement; the wait never falls short by more than it ran. */
  private void assertBackoff(ObserveAnswer answer, long millis) {
    assertThat(answer).isInstanceOf(ObserveAnswer.Applied.class);
    assertThat(
            db.number(
                "select round(extract(epoch from t.due_at - a.finished_at) * 1000)::bigint"
                    + " from escapement.task t join escapement.attempt a"
                    + " on a.task_id = t.id and a.number = t.attempt where t.id = "
                    + answer.task()))
        .isBetween(millis - 50, millis);
  }
}
