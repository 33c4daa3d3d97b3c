package io.escapement.ledger;

import static io.escapement.ledger.Requests.request;
import static io.escapement.ledger.TestLedger.ALL_SLOTS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
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

  private static final byte[] EFFECT = "done".getBytes(StandardCharsets.UTF_8);

  /** The next one to leave; it starts while the test of the one before is still reading. */
  private static ChildProcess next;

  private TestLedger db;
  private Ledger ingest;
  private Ledger worker;
  private Ledger operator;
  private final Set<String> external = new HashSet<>();
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
    assertThat(worker.claim("second", WorkFilter.ANY, List.of(task)).get(0))
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
                .apply("crashing", WorkFilter.ANY, List.of(task)));
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
      ClaimedTask claimed = Objects.requireNonNull(s.claim(task));
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

  // The outside.

  @Test
  void aCrashBetweenCallAndObservationIsUnknownUntilThereIsEvidence() {
    Duration timeout = Duration.ofMillis(1);
    external(ChannelDefinition.idempotent("keyed", timeout, null));
    external(ChannelDefinition.queryable("asked", timeout, Duration.ZERO));
    external(ChannelDefinition.opaque("silent", timeout));
    long keyed = submitOne("keyed");
    long asked = submitOne("asked");
    long silent = submitOne("silent");
    db.execute("create table public.call (task bigint)");
    crash(
        s -> {
          for (long task : new long[] {keyed, asked, silent}) {
            if (s.claim(task) != null) {
              s.run("insert into public.call values (" + task + ")");
            }
          }
          s.halt();
          return "";
        });
    assertThat(operator.audit()).isEmpty();
    assertThat(db.number("select count(*) from public.call")).isEqualTo(3);
    assertThat(db.column("select state || ' ' || action from escapement.task"))
        .containsOnly("CLAIMED SEND");
    db.execute("update escapement.task set lease_until = clock_timestamp()");
    worker.reclaim("default", ALL_SLOTS, 10);

    assertThat(operator.audit()).isEmpty();
    assertThat(use()).containsExactly("3,6", "3,6");
    assertThat(db.column("select outcome || ' ' || action from escapement.attempt"))
        .containsOnly("LEASE_EXPIRED SEND")
        .hasSize(3);
    assertThat(
            db.column(
                "select channel || ' ' || state || ' ' || uncertain || ' ' || (due_at is null)"
                    + " from escapement.task"))
        .containsExactlyInAnyOrder(
            "keyed UNKNOWN true false", "asked UNKNOWN true false", "silent UNKNOWN true true");

    ClaimedTask again = claimWhenDue(keyed);
    assertThat(again.action()).isEqualTo(ClaimedTask.Action.SEND);
    settle(Observation.of(keyed, 2, Observation.Seen.ACCEPTED_REPLAY, null));
    ClaimedTask question = claimWhenDue(asked);
    assertThat(question.action()).isEqualTo(ClaimedTask.Action.QUERY);
    settle(Observation.of(asked, 2, Observation.Seen.QUERY_FOUND, null));
    assertThat(worker.claim("nobody", WorkFilter.ANY, List.of(silent)).get(0))
        .as("nothing is sent again that may have been accepted")
        .isInstanceOf(ClaimAnswer.NotClaimable.class);
    assertThat(operator.resolve(silent, Resolution.DONE, "it was there")).isEqualTo(Resolved.DONE);
    assertThat(db.column("select state from escapement.task")).containsOnly("DONE");
    assertThat(use()).containsExactly("0,0", "0,0");
    assertThat(operator.audit()).isEmpty();
  }

  // Operators.

  @Test
  void aCrashInsideOrBeforeTheCommitOfARedriveLeavesTheTaskInQuarantine() throws Exception {
    long task = quarantined("a");
    assertCrashesLeaveNothing(
        "outbox",
        s -> operate(s, CommitBoundary.none()).redrive(task, 1, "crash"),
        s -> operate(s, halt(s, true)).redrive(task, 1, "crash"));
    assertThat(operator.redrive(task, 1, "again")).isEqualTo(Redriven.REDRIVEN);
  }

  @Test
  void aCrashAfterTheRedrivesCommitLeavesAllAndASecondOneSaysSo() {
    long task = quarantined("a");
    crash(s -> operate(s, halt(s, false)).redrive(task, 1, "crash").name());
    assertThat(operator.audit()).isEmpty();
    assertThat(db.column("select state || ' ' || attempt from escapement.task"))
        .containsExactly("SCHEDULED 2");
    assertThat(use()).containsExactly("1,2", "1,2");
    assertThat(operator.redrive(task, 1, "again")).isEqualTo(Redriven.NOT_QUARANTINED);
    assertThat(complete(claimNow(task))).isInstanceOf(ObserveAnswer.Applied.class);
    assertThat(operator.audit()).isEmpty();
  }

  @Test
  void aCrashInsideOrBeforeTheCommitOfAResolutionLeavesTheTaskParked() throws Exception {
    long task = parked("a");
    assertCrashesLeaveNothing(
        "operator_action",
        s -> operate(s, CommitBoundary.none()).resolve(task, Resolution.DONE, "crash"),
        s -> operate(s, halt(s, true)).resolve(task, Resolution.DONE, "crash"));
    assertThat(operator.resolve(task, Resolution.FAILED, "again")).isEqualTo(Resolved.FAILED);
  }

  @Test
  void aCrashAfterTheResolutionsCommitLeavesAllAndASecondOneSaysSo() {
    long task = parked("a");
    crash(s -> operate(s, halt(s, false)).resolve(task, Resolution.DONE, "crash").name());
    assertThat(operator.audit()).isEmpty();
    assertThat(db.column("select state from escapement.task")).containsExactly("DONE");
    assertThat(use()).containsExactly("0,0", "0,0");
    assertThat(operator.resolve(task, Resolution.FAILED, "again")).isEqualTo(Resolved.NOT_PARKED);
    assertThat(db.column("select state from escapement.task")).containsExactly("DONE");
  }

  /** An operator's act, in the child. */
  @FunctionalInterface
  private interface Act extends Serializable {
    Object on(ChildSession session);
  }

  /** Neither while the statement is at work on a table, nor before the commit. */
  private void assertCrashesLeaveNothing(String table, Act inside, Act beforeCommit)
      throws SQLException {
    Map<String, List<String>> before = LedgerRows.of(db);
    Gate.closedBefore(
        db,
        table,
        () -> {
          crash(
              s -> {
                s.haltAtGate();
                return String.valueOf(inside.on(s));
              });
          assertThat(LedgerRows.of(db)).as("inside").isEqualTo(before);
        });
    crash(s -> String.valueOf(beforeCommit.on(s)));
    assertThat(LedgerRows.of(db)).as("before the commit").isEqualTo(before);
    assertThat(operator.audit()).isEmpty();
    assertThat(use()).containsExactly("1,2", "1,2");
  }

  private static Operate operate(ChildSession session, CommitBoundary boundary) {
    return new Operate(session.statements(Role.OPERATOR, boundary));
  }

  /** A task that has failed once and was taken out of service. */
  private long quarantined(String id) {
    long task = submitOne(id);
    ClaimedTask claimed = claimNow(task);
    settle(Observation.failed(task, claimed.attempt(), "no"));
    assertThat(operator.quarantine(task, "test")).isEqualTo(Quarantined.QUARANTINED);
    return task;
  }

  /** A task that a person must look at. */
  private long parked(String id) {
    external(ChannelDefinition.opaque(id, Duration.ofMillis(1)));
    long task = submitOne(id);
    ClaimedTask claimed = claimNow(task);
    settle(Observation.of(task, claimed.attempt(), Observation.Seen.TIMEOUT, null));
    return task;
  }

  /** From now on a kind goes to the outside, without backoff; kind and channel bear one name. */
  private void external(ChannelDefinition channel) {
    operator.defineChannel(channel, "test");
    operator.defineKind(
        KindDefinition.local(channel.name())
            .withChannel(channel.name())
            .withBackoff(Duration.ZERO, Duration.ZERO, 0),
        "test");
    external.add(channel.name());
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
    return ((ClaimAnswer.Claimed)
            worker.claim("w/" + ++claims, WorkFilter.ANY, List.of(task)).get(0))
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

  /** A request of the kind of this name, if there is one. */
  private long submitOne(String id) {
    Requests request = request(id).kind(external.contains(id) ? id : "work");
    assertThat(db.submit(ingest, request.build())).containsExactly(Decision.ACCEPTED);
    return db.number("select first_task from escapement.intent where event_id = '" + id + "'");
  }

  private ClaimedTask claimWhenDue(long task) {
    await()
        .atMost(ChildProcess.PATIENCE)
        .until(
            () ->
                db.number(
                        "select count(*) from escapement.task where due_at <= now() and id = "
                            + task)
                    == 1);
    return claimNow(task);
  }

  private void settle(Observation observation) {
    assertThat(worker.observe(List.of(observation)).get(0))
        .isInstanceOf(ObserveAnswer.Applied.class);
  }
}
