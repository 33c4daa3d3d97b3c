package io.escapement.ledger;

import static io.escapement.ledger.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A process leaves with {@code Runtime.halt} at each boundary that has a name, and a new connection
 * reads what is there. Before the commit that is nothing, and the seat is as it was; after it, it
 * is all, and who asks again is told so.
 */
class LedgerCrashTest {

  private static final List<Integer> ALL_SLOTS =
      java.util.stream.IntStream.range(0, 256).boxed().toList();
  private static final List<String> KINDS = List.of("work");
  private static final byte[] EFFECT = "done".getBytes(StandardCharsets.UTF_8);

  /** The next one to leave; it starts while the test of the one before is still reading. */
  private static ChildProcess next;

  private TestLedger db;
  private Ledger ingest;
  private Ledger worker;
  private Ledger operator;
  private int claims;

  @BeforeAll
  static void startFirst() {
    next = ChildProcess.start();
  }

  @AfterAll
  static void endLast() {
    next.close();
  }

  @BeforeEach
  void open() {
    db = TestLedger.create();
    ingest = db.connect(Role.INGEST);
    worker = db.connect(Role.DISPATCHER);
    operator = db.connect(Role.OPERATOR);
    db.execute(
        "create table public.booking (task bigint primary key);"
            + " grant insert on public.booking to escapement_dispatcher");
  }

  @AfterEach
  void close() {
    db.close();
  }

  // Admission.

  @Test
  void aCrashBetweenIntentAndTaskLeavesNeither() throws Exception {
    Map<String, List<String>> before = LedgerRows.of(db);
    Gate.closedBefore(
        db,
        "task",
        () -> {
          crash(
              s -> {
                s.haltAtGate();
                return s.admit(request("a")).toString();
              });
          assertThat(LedgerRows.of(db)).isEqualTo(before);
        });
    assertThat(operator.audit()).isEmpty();
    assertThat(db.submit(ingest, request("a").build())).containsExactly(Decision.ACCEPTED);
  }

  /** The control: an intent and its task in two transactions, and the audit finds what is left. */
  @Test
  void anIntentCommittedBeforeItsTaskIsFoundByTheAudit() {
    crash(
        s -> {
          s.run(WrongSql.intent("a"));
          s.halt();
          return "";
        });
    assertThat(operator.audit()).extracting(Violation::invariant).contains("REF");
  }

  @Test
  void aCrashBeforeTheAdmissionsCommitLeavesNothing() {
    UUID topic = UUID.randomUUID();
    Map<String, List<String>> before = LedgerRows.of(db);
    crash(admission(topic, true));
    assertThat(LedgerRows.of(db)).isEqualTo(before);
    assertThat(operator.audit()).isEmpty();
    assertThat(decide(ChildSession.batch(topic, request("a")))).isEqualTo(Decision.ACCEPTED);
  }

  @Test
  void aCrashAfterTheAdmissionsCommitLeavesAllAndTheSameRequestIsAReplay() {
    UUID topic = UUID.randomUUID();
    crash(admission(topic, false));
    assertThat(operator.audit()).isEmpty();
    assertThat(db.column("select state from escapement.task")).containsExactly("SCHEDULED");
    assertThat(use()).containsExactly("1,2", "1,2");
    assertThat(ingest.admit(ChildSession.batch(topic, request("a"))))
        .as("the position has moved with it")
        .isInstanceOf(Admission.Fenced.class);
    assertThat(db.submit(ingest, request("a").build())).containsExactly(Decision.REPLAY);
    assertThat(use()).containsExactly("1,2", "1,2");
  }

  private static ChildJob admission(UUID topic, boolean before) {
    return s ->
        String.valueOf(
            new Admit(s.statements(Role.INGEST, halt(s, before)))
                .apply(ChildSession.batch(topic, request("a"))));
  }

  // Claim.

  @Test
  void aCrashBeforeTheClaimsCommitLeavesTheTaskToOthers() {
    long task = submitOne("a");
    Map<String, List<String>> before = LedgerRows.of(db);
    crash(claim(task, true));
    assertThat(LedgerRows.of(db)).isEqualTo(before);
    assertThat(operator.audit()).isEmpty();
    assertThat(claimNow(task).attempt()).isEqualTo(1);
  }

  @Test
  void aCrashBetweenTheClaimsCommitAndTheWorkCostsALeaseAndNothingElse() {
    long task = submitOne("a");
    List<String> use = use();
    crash(claim(task, false));
    assertThat(operator.audit()).isEmpty();
    assertThat(worker.claimedBy("crashing"))
        .singleElement()
        .satisfies(lease -> assertThat(lease.attempt()).isEqualTo(1));
    assertThat(worker.claim("second", KINDS, List.of(task)).get(0))
        .isInstanceOf(ClaimAnswer.NotClaimable.class);
    assertThat(use()).isEqualTo(use);

    endLease(task);
    assertThat(worker.reclaim("default", ALL_SLOTS, 10)).hasSize(1);
    ClaimedTask again = claimNow(task);
    assertThat(again.attempt()).isEqualTo(2);
    assertThat(complete(again)).isInstanceOf(ObserveAnswer.Applied.class);
    assertThat(bookingFaults()).isEmpty();
    assertThat(db.column("select outcome from escapement.attempt order by number"))
        .containsExactly("LEASE_EXPIRED", "COMPLETED");
    assertThat(operator.audit()).isEmpty();
  }

  private static ChildJob claim(long task, boolean before) {
    return s ->
        String.valueOf(
            new Claim(s.statements(Role.DISPATCHER, halt(s, before)))
                .apply("crashing", KINDS, List.of(task)));
  }

  // Completion.

  @Test
  void aCrashBetweenEffectAndCompletionLeavesNoEffect() {
    long task = submitOne("a");
    Map<String, List<String>> before = crashAfterClaim(completion(task, At.BETWEEN));
    assertThat(LedgerRows.of(db)).isEqualTo(before);
    assertAnotherCompletes(task);
  }

  /**
   * The control: an effect outside the completing transaction is there, and its task isn't done.
   */
  @Test
  void anEffectOutsideTheCompletingTransactionOutlivesTheCrash() {
    long task = submitOne("a");
    Map<String, List<String>> before =
        crashAfterClaim(completion(task, At.BETWEEN_ALREADY_WRITTEN));
    assertThat(LedgerRows.of(db)).isNotEqualTo(before);
    assertThat(bookingFaults()).containsExactly("task " + task + " is CLAIMED and booked");
  }

  @Test
  void aCrashBeforeTheCompletionsCommitLeavesNoEffect() {
    long task = submitOne("a");
    Map<String, List<String>> before = crashAfterClaim(completion(task, At.BEFORE_COMMIT));
    assertThat(LedgerRows.of(db)).isEqualTo(before);
    assertAnotherCompletes(task);
  }

  @Test
  void aCrashAfterTheCompletionsCommitLeavesAllAndASecondCompletionSaysSo() {
    long task = submitOne("a");
    crashAfterClaim(completion(task, At.AFTER_COMMIT));
    assertThat(bookingFaults()).isEmpty();
    assertThat(operator.audit()).isEmpty();
    assertThat(db.column("select state from escapement.task")).containsExactly("DONE");
    assertThat(db.number("select count(*) from public.booking")).isEqualTo(1);
    assertThat(db.number("select count(*) from escapement.effect")).isEqualTo(1);
    assertThat(use()).containsExactly("0,0", "0,0");

    Map<String, List<String>> before = LedgerRows.of(db);
    assertThat(worker.observe(List.of(Observation.completed(task, 1, EFFECT))).get(0))
        .isEqualTo(new ObserveAnswer.Repeated(task, 1, TaskState.DONE, "COMPLETED"));
    assertThat(worker.outcome(task, 1)).contains("COMPLETED");
    assertThat(LedgerRows.of(db)).isEqualTo(before);
  }

  private enum At {
    BETWEEN,
    BETWEEN_ALREADY_WRITTEN,
    BEFORE_COMMIT,
    AFTER_COMMIT
  }

  /** Claims, says so, and completes as far as it gets. */
  private static ChildJob completion(long task, At at) {
    return s -> {
      ClaimedTask claimed = java.util.Objects.requireNonNull(s.claim(task));
      s.pause("claimed");
      CommitBoundary boundary =
          switch (at) {
            case BETWEEN, BETWEEN_ALREADY_WRITTEN -> CommitBoundary.none();
            case BEFORE_COMMIT -> halt(s, true);
            case AFTER_COMMIT -> halt(s, false);
          };
      return String.valueOf(
          new Observe(s.statements(Role.DISPATCHER, boundary))
              .inTransaction(
                  claimed,
                  c -> {
                    book(at == At.BETWEEN_ALREADY_WRITTEN ? s.owner() : c, task);
                    if (at == At.BETWEEN || at == At.BETWEEN_ALREADY_WRITTEN) {
                      s.halt();
                    }
                    return Observation.completed(task, claimed.attempt(), EFFECT);
                  }));
    };
  }

  /** Nothing is lost: the lease ends, another process does it, once. */
  private void assertAnotherCompletes(long task) {
    assertThat(bookingFaults()).isEmpty();
    assertThat(operator.audit()).isEmpty();
    assertThat(use()).containsExactly("1,2", "1,2");
    endLease(task);
    worker.reclaim("default", ALL_SLOTS, 10);
    assertThat(complete(claimNow(task))).isInstanceOf(ObserveAnswer.Applied.class);
    assertThat(bookingFaults()).isEmpty();
    assertThat(db.number("select count(*) from public.booking")).isEqualTo(1);
    assertThat(operator.audit()).isEmpty();
    assertThat(use()).containsExactly("0,0", "0,0");
  }

  /** A task is booked if and only if it is done; everything else, one line each. */
  private List<String> bookingFaults() {
    return new ArrayList<>(
        db.column(
            """
            select 'task ' || t.id || ' is ' || t.state
              || case when b.task is null then ' and not booked' else ' and booked' end
            from escapement.task t left join public.booking b on b.task = t.id
            where (t.state = 'DONE') <> (b.task is not null)
            """));
  }

  // Cancellation.

  @Test
  void aCrashBeforeTheCancellationsCommitLeavesTheTaskAsItWas() {
    long task = submitOne("a");
    Map<String, List<String>> before = LedgerRows.of(db);
    crash(cancellation(true));
    assertThat(LedgerRows.of(db)).isEqualTo(before);
    assertThat(operator.audit()).isEmpty();
    assertThat(operator.cancel("/test", "a", false, "again"))
        .containsExactly(new CancelAnswer(task, CancelAnswer.Result.CANCELLED_UNSTARTED));
  }

  @Test
  void aCrashAfterTheCancellationsCommitLeavesAllAndASecondOneSaysSo() {
    long task = submitOne("a");
    crash(cancellation(false));
    assertThat(operator.audit()).isEmpty();
    assertThat(db.column("select state from escapement.task")).containsExactly("CANCELLED");
    assertThat(use()).containsExactly("0,0", "0,0");
    assertThat(db.column("select result from escapement.operator_action where action = 'cancel'"))
        .containsExactly("CANCELLED_UNSTARTED");
    assertThat(operator.cancel("/test", "a", false, "again"))
        .containsExactly(new CancelAnswer(task, CancelAnswer.Result.ALREADY_CANCELLED));
    assertThat(db.submit(ingest, request("a").build())).containsExactly(Decision.REPLAY);
    assertThat(use()).containsExactly("0,0", "0,0");
  }

  private static ChildJob cancellation(boolean before) {
    return s ->
        String.valueOf(
            new Cancel(s.statements(Role.OPERATOR, halt(s, before)))
                .apply("/test", "a", false, "crash"));
  }

  // Helpers.

  private static CommitBoundary halt(ChildSession session, boolean before) {
    return before
        ? CommitBoundary.before(c -> session.halt())
        : CommitBoundary.after(c -> session.halt());
  }

  private void crash(ChildJob job) {
    try (ChildProcess child = takeNext()) {
      child.leave(db, job);
    }
  }

  /** Lets a process claim, then leave; answers with the rows from in between. */
  private Map<String, List<String>> crashAfterClaim(ChildJob job) {
    try (ChildProcess child = takeNext()) {
      child.begin(db, job);
      child.awaitPause("claimed");
      Map<String, List<String>> rows = LedgerRows.of(db);
      child.goOn();
      child.awaitHalt(db);
      return rows;
    }
  }

  private static ChildProcess takeNext() {
    ChildProcess child = next;
    child.awaitReady();
    next = ChildProcess.start();
    return child;
  }

  private static void book(Connection connection, long task) throws SQLException {
    try (Statement s = connection.createStatement()) {
      s.execute("insert into public.booking values (" + task + ")");
    }
  }

  private ObserveAnswer complete(ClaimedTask claimed) {
    return worker.complete(
        claimed,
        c -> {
          book(c, claimed.task());
          return Observation.completed(claimed.task(), claimed.attempt(), EFFECT);
        });
  }

  private ClaimedTask claimNow(long task) {
    return ((ClaimAnswer.Claimed) worker.claim("w/" + ++claims, KINDS, List.of(task)).get(0))
        .lease();
  }

  /** As if its time had passed. */
  private void endLease(long task) {
    db.execute("update escapement.task set lease_until = clock_timestamp() where id = " + task);
  }

  private List<String> use() {
    operator.fold();
    return db.column("select used_tasks || ',' || used_bytes from escapement.budgets");
  }

  private Decision decide(AdmissionBatch batch) {
    return ((Admission.Decided) ingest.admit(batch)).decisions().get(0).decision();
  }

  private long submitOne(String id) {
    assertThat(db.submit(ingest, request(id).build())).containsExactly(Decision.ACCEPTED);
    return db.number("select max(id) from escapement.task where state = 'SCHEDULED'");
  }
}
