package io.escapement.ledger;

import static io.escapement.ledger.Requests.request;
import static io.escapement.ledger.TestLedger.ALL_SLOTS;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A process leaves with {@code Runtime.halt} at each boundary that has a name, and a new connection
 * reads what is there. Before the commit that is nothing, and the seat is as it was; after it, it
 * is all, and who asks again is told so.
 */
class LedgerCrashTest {

  private static final byte[] EFFECT = "done".getBytes(StandardCharsets.UTF_8);

  private CrashSite site;
  private TestLedger db;
  private Ledger ingest;
  private Ledger worker;
  private Ledger operator;

  @BeforeEach
  void open() {
    site = CrashSite.open();
    db = site.db();
    ingest = site.ingest();
    worker = site.worker();
    operator = site.operator();
    db.execute(
        "create table public.booking (task bigint primary key);"
            + " grant insert on public.booking to escapement_dispatcher");
  }

  @AfterEach
  void close() {
    site.close();
  }

  @AfterAll
  static void endSpare() {
    CrashSite.endSpare();
  }

  // Admission.

  @Test
  void aCrashBetweenIntentAndTaskLeavesNeither() throws Exception {
    Map<String, List<String>> before = LedgerImage.of(db);
    Gate.closedBefore(
        db,
        "task",
        () -> {
          site.crash(
              s -> {
                s.haltAtGate();
                return s.admit(request("a")).toString();
              });
          assertThat(LedgerImage.of(db)).isEqualTo(before);
        });
    assertThat(operator.audit()).isEmpty();
    assertThat(db.submit(ingest, request("a").build())).containsExactly(Decision.ACCEPTED);
  }

  /** The control: an intent and its task in two transactions, and the audit finds what is left. */
  @Test
  void anIntentCommittedBeforeItsTaskIsFoundByTheAudit() {
    site.crash(
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
    operator.setTenant("acme", 100, 10_000, 1, "a new tenant is decided in two tries");
    Map<String, List<String>> before = LedgerImage.of(db);
    site.crash(admission(topic, true));
    assertThat(LedgerImage.of(db)).isEqualTo(before);
    assertThat(operator.audit()).isEmpty();
    assertThat(decide(ChildSession.batch(topic, request("a")))).isEqualTo(Decision.ACCEPTED);
  }

  @Test
  void aCrashAfterTheAdmissionsCommitLeavesAllAndTheSameRequestIsAReplay() {
    UUID topic = UUID.randomUUID();
    operator.setTenant("acme", 100, 10_000, 1, "a new tenant is decided in two tries");
    site.crash(admission(topic, false));
    assertThat(operator.audit()).isEmpty();
    assertThat(db.column("select state from escapement.task")).containsExactly("SCHEDULED");
    assertThat(site.use()).containsExactly("1,2", "1,2");
    assertThat(ingest.admit(ChildSession.batch(topic, request("a"))))
        .as("the position has moved with it")
        .isInstanceOf(Admission.Fenced.class);
    assertThat(db.submit(ingest, request("a").build())).containsExactly(Decision.REPLAY);
    assertThat(site.use()).containsExactly("1,2", "1,2");
  }

  private static ChildJob admission(UUID topic, boolean before) {
    return s ->
        String.valueOf(
            new Admit(s.statements(Role.INGEST, CrashSite.halt(s, before)))
                .apply(ChildSession.batch(topic, request("a"))));
  }

  // Claim.

  @Test
  void aCrashBeforeTheClaimsCommitLeavesTheTaskToOthers() {
    long task = site.submitOne("a");
    Map<String, List<String>> before = LedgerImage.of(db);
    site.crash(claim(task, true));
    assertThat(LedgerImage.of(db)).isEqualTo(before);
    assertThat(operator.audit()).isEmpty();
    assertThat(site.claimNow(task).attempt()).isEqualTo(1);
  }

  @Test
  void aCrashBetweenTheClaimsCommitAndTheWorkCostsALeaseAndNothingElse() {
    long task = site.submitOne("a");
    List<String> use = site.use();
    site.crash(claim(task, false));
    assertThat(operator.audit()).isEmpty();
    assertThat(worker.claimedBy("crashing"))
        .singleElement()
        .satisfies(lease -> assertThat(lease.attempt()).isEqualTo(1));
    assertThat(worker.claim("second", WorkFilter.ANY, List.of(task)).get(0))
        .isInstanceOf(ClaimAnswer.NotClaimable.class);
    assertThat(site.use()).isEqualTo(use);

    site.endLease(task);
    assertThat(worker.reclaim("default", ALL_SLOTS, 10)).hasSize(1);
    ClaimedTask again = site.claimNow(task);
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
            new Claim(s.statements(Role.DISPATCHER, CrashSite.halt(s, before)))
                .apply("crashing", WorkFilter.ANY, List.of(task)));
  }

  // Completion.

  @Test
  void aCrashBetweenEffectAndCompletionLeavesNoEffect() {
    long task = site.submitOne("a");
    Map<String, List<String>> before = site.crashAfterClaim(completion(task, At.BETWEEN));
    assertThat(LedgerImage.of(db)).isEqualTo(before);
    assertAnotherCompletes(task);
  }

  /**
   * The control: an effect outside the completing transaction is there, and its task isn't done.
   */
  @Test
  void anEffectOutsideTheCompletingTransactionOutlivesTheCrash() {
    long task = site.submitOne("a");
    Map<String, List<String>> before =
        site.crashAfterClaim(completion(task, At.BETWEEN_ALREADY_WRITTEN));
    assertThat(LedgerImage.of(db)).isNotEqualTo(before);
    assertThat(bookingFaults()).containsExactly("task " + task + " is CLAIMED and booked");
  }

  @Test
  void aCrashBeforeTheCompletionsCommitLeavesNoEffect() {
    long task = site.submitOne("a");
    Map<String, List<String>> before = site.crashAfterClaim(completion(task, At.BEFORE_COMMIT));
    assertThat(LedgerImage.of(db)).isEqualTo(before);
    assertAnotherCompletes(task);
  }

  @Test
  void aCrashAfterTheCompletionsCommitLeavesAllAndASecondCompletionSaysSo() {
    long task = site.submitOne("a");
    site.crashAfterClaim(completion(task, At.AFTER_COMMIT));
    assertThat(bookingFaults()).isEmpty();
    assertThat(operator.audit()).isEmpty();
    assertThat(db.column("select state from escapement.task")).containsExactly("DONE");
    assertThat(db.number("select count(*) from public.booking")).isEqualTo(1);
    assertThat(db.number("select count(*) from escapement.effect")).isEqualTo(1);
    assertThat(site.use()).containsExactly("0,0", "0,0");

    Map<String, List<String>> before = LedgerImage.of(db);
    assertThat(worker.observe(List.of(Observation.completed(task, 1, EFFECT))).get(0))
        .isEqualTo(new ObserveAnswer.Repeated(task, 1, TaskState.DONE, "COMPLETED"));
    assertThat(worker.outcome(task, 1)).contains("COMPLETED");
    assertThat(LedgerImage.of(db)).isEqualTo(before);
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
            case BEFORE_COMMIT -> CrashSite.halt(s, true);
            case AFTER_COMMIT -> CrashSite.halt(s, false);
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
    assertThat(site.use()).containsExactly("1,2", "1,2");
    site.endLease(task);
    worker.reclaim("default", ALL_SLOTS, 10);
    assertThat(complete(site.claimNow(task))).isInstanceOf(ObserveAnswer.Applied.class);
    assertThat(bookingFaults()).isEmpty();
    assertThat(db.number("select count(*) from public.booking")).isEqualTo(1);
    assertThat(operator.audit()).isEmpty();
    assertThat(site.use()).containsExactly("0,0", "0,0");
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
    long task = site.submitOne("a");
    Map<String, List<String>> before = LedgerImage.of(db);
    site.crash(cancellation(true));
    assertThat(LedgerImage.of(db)).isEqualTo(before);
    assertThat(operator.audit()).isEmpty();
    assertThat(operator.cancel("/test", "a", false, "again"))
        .containsExactly(new CancelAnswer(task, CancelAnswer.Result.CANCELLED_UNSTARTED));
  }

  @Test
  void aCrashAfterTheCancellationsCommitLeavesAllAndASecondOneSaysSo() {
    long task = site.submitOne("a");
    site.crash(cancellation(false));
    assertThat(operator.audit()).isEmpty();
    assertThat(db.column("select state from escapement.task")).containsExactly("CANCELLED");
    assertThat(site.use()).containsExactly("0,0", "0,0");
    assertThat(db.column("select result from escapement.operator_action where action = 'cancel'"))
        .containsExactly("CANCELLED_UNSTARTED");
    assertThat(operator.cancel("/test", "a", false, "again"))
        .containsExactly(new CancelAnswer(task, CancelAnswer.Result.ALREADY_CANCELLED));
    assertThat(db.submit(ingest, request("a").build())).containsExactly(Decision.REPLAY);
    assertThat(site.use()).containsExactly("0,0", "0,0");
  }

  private static ChildJob cancellation(boolean before) {
    return s ->
        String.valueOf(
            new Cancel(s.statements(Role.OPERATOR, CrashSite.halt(s, before)))
                .apply("/test", "a", false, "crash"));
  }

  // The outside.

  @Test
  void aCrashBetweenCallAndObservationIsUnknownUntilThereIsEvidence() {
    Duration timeout = Duration.ofMillis(1);
    site.external(ChannelDefinition.idempotent("keyed", timeout, null));
    site.external(ChannelDefinition.queryable("asked", timeout, Duration.ZERO));
    site.external(ChannelDefinition.opaque("silent", timeout));
    long keyed = site.submitOne("keyed");
    long asked = site.submitOne("asked");
    long silent = site.submitOne("silent");
    db.execute("create table public.call (task bigint)");
    site.crash(
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
    assertThat(site.use()).containsExactly("3,6", "3,6");
    assertThat(db.column("select outcome || ' ' || action from escapement.attempt"))
        .containsOnly("LEASE_EXPIRED SEND")
        .hasSize(3);
    assertThat(
            db.column(
                "select channel || ' ' || state || ' ' || uncertain || ' ' || (due_at is null)"
                    + " from escapement.task"))
        .containsExactlyInAnyOrder(
            "keyed UNKNOWN true false", "asked UNKNOWN true false", "silent UNKNOWN true true");

    ClaimedTask again = site.claimWhenDue(keyed);
    assertThat(again.action()).isEqualTo(ClaimedTask.Action.SEND);
    site.settle(Observation.of(keyed, 2, Observation.Seen.ACCEPTED_REPLAY, null));
    ClaimedTask question = site.claimWhenDue(asked);
    assertThat(question.action()).isEqualTo(ClaimedTask.Action.QUERY);
    site.settle(Observation.of(asked, 2, Observation.Seen.QUERY_FOUND, null));
    assertThat(worker.claim("nobody", WorkFilter.ANY, List.of(silent)).get(0))
        .as("nothing is sent again that may have been accepted")
        .isInstanceOf(ClaimAnswer.NotClaimable.class);
    assertThat(operator.resolve(silent, Resolution.DONE, "it was there")).isEqualTo(Resolved.DONE);
    assertThat(db.column("select state from escapement.task")).containsOnly("DONE");
    assertThat(site.use()).containsExactly("0,0", "0,0");
    assertThat(operator.audit()).isEmpty();
  }

  // Helpers.

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

  private Decision decide(AdmissionBatch batch) {
    return ((Admission.Decided) ingest.admit(batch)).decisions().get(0).decision();
  }
}
