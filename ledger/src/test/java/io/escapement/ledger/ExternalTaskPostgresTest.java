package io.escapement.ledger;

import static io.escapement.ledger.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Calls to the outside: what is asked, sent again, parked, and what is known of it. */
class ExternalTaskPostgresTest {

  private static final Duration TIMEOUT = Duration.ofSeconds(5);

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
    operator.defineChannel(
        ChannelDefinition.idempotent("push", TIMEOUT, Duration.ofHours(1)), "test");
    operator.defineChannel(
        ChannelDefinition.queryable("bank", TIMEOUT, Duration.ofSeconds(30)), "test");
    operator.defineChannel(ChannelDefinition.opaque("mail", TIMEOUT), "test");
    for (String channel : List.of("push", "bank", "mail", "local")) {
      operator.defineKind(
          KindDefinition.local("to-" + channel)
              .withChannel(channel)
              .withMaxAttempts(3)
              .withBackoff(Duration.ZERO, Duration.ZERO, 0),
          "test");
    }
    operator.defineKind(KindDefinition.local("note").byPreference("mail", "push", "local"), "test");
  }

  @AfterEach
  void auditAndClose() {
    assertThat(operator.audit()).isEmpty();
    db.close();
  }

  @Test
  void anAcceptedCallIsDoneWithTheProvidersNameForIt() {
    ClaimedTask task = claimNew("to-push");
    assertThat(task.action()).isEqualTo(ClaimedTask.Action.SEND);
    assertThat(task.timeout()).isEqualTo(TIMEOUT);
    assertThat(see(Observation.accepted(task.task(), 1, "m-1"))).isEqualTo(TaskState.DONE);
    assertThat(db.column("select message_id from escapement.attempt")).containsExactly("m-1");
    assertThat(db.number("select count(*) from escapement.effect")).isZero();
  }

  @Test
  void anIdempotentCallWithoutAnAnswerIsSentAgainUnderTheSameKey() {
    ClaimedTask first = claimNew("to-push");
    see(Observation.of(first.task(), 1, Observation.Seen.TIMEOUT, "no answer"));
    ClaimedTask second = claim(first.task());
    assertThat(second.action()).isEqualTo(ClaimedTask.Action.SEND);
    assertThat(second.uncertain()).isTrue();
    assertThat(second.idempotencyKey()).isEqualTo(first.idempotencyKey());
  }

  @Test
  void aKeyThatMayBeForgottenIsNotSentAgain() {
    ClaimedTask first = claimNew("to-push");
    see(Observation.of(first.task(), 1, Observation.Seen.IO_ERROR, "reset"));
    // The call could still be under way when an hour after the first one has passed.
    db.execute(
        "update escapement.task set first_sent_at = now() - interval '1 hour' + interval '4 s'");
    assertThat(claimAnswer(first.task()))
        .isEqualTo(new ClaimAnswer.Settled(first.task(), TaskState.UNKNOWN));
    assertParked(first.task(), "KEY_EXPIRED");
  }

  @Test
  void aKeyThatIsStillRememberedIsSentAgain() {
    ClaimedTask first = claimNew("to-push");
    see(Observation.of(first.task(), 1, Observation.Seen.IO_ERROR, "reset"));
    db.execute(
        "update escapement.task set first_sent_at = now() - interval '1 hour' + interval '1 minute'");
    assertThat(claim(first.task()).action()).isEqualTo(ClaimedTask.Action.SEND);
  }

  @Test
  void aQueryableCallWithoutAnAnswerIsAskedForOnceItCanBeFound() {
    ClaimedTask first = claimNew("to-bank");
    ObserveAnswer answer =
        worker
            .observe(List.of(Observation.of(first.task(), 1, Observation.Seen.UNCLEAR, "HTTP 500")))
            .get(0);
    assertThat(answer).isInstanceOf(ObserveAnswer.Applied.class);
    assertThat(waitSeconds(first.task())).isBetween(25L, 30L);
    assertThat(claimAnswer(first.task())).isInstanceOf(ClaimAnswer.NotDue.class);
    dueNow();
    ClaimedTask query = claim(first.task());
    assertThat(query.action()).isEqualTo(ClaimedTask.Action.QUERY);
    assertThat(see(of(query, Observation.Seen.QUERY_NOT_FOUND))).isEqualTo(TaskState.SCHEDULED);
    ClaimedTask again = claim(first.task());
    assertThat(again.action()).isEqualTo(ClaimedTask.Action.SEND);
    assertThat(again.uncertain()).isFalse();
  }

  @Test
  void aLostCallIsAskedForAfterItsLeaseItsTimeoutAndTheSettling() {
    ClaimedTask first = claimNew("to-bank");
    loseLease();
    worker.reclaim("default", TestLedger.ALL_SLOTS, 10);
    // the lease ended just now; 5 s of timeout and 30 s of settling follow
    assertThat(waitSeconds(first.task())).isBetween(30L, 35L);
  }

  @Test
  void aLostQueryIsAskedAgainWithoutSettling() {
    ClaimedTask first = claimNew("to-bank");
    see(Observation.of(first.task(), 1, Observation.Seen.TIMEOUT, ""));
    dueNow();
    claim(first.task());
    loseLease();
    worker.reclaim("default", TestLedger.ALL_SLOTS, 10);
    assertThat(waitSeconds(first.task())).isLessThanOrEqualTo(0);
  }

  @Test
  void anOpaqueCallWithoutAnAnswerWaitsForAPerson() {
    ClaimedTask task = claimNew("to-mail");
    assertThat(see(of(task, Observation.Seen.TIMEOUT))).isEqualTo(TaskState.UNKNOWN);
    assertParked(task.task(), "TIMEOUT");
    assertThat(operator.resolve(task.task(), Resolution.RETRY, "the provider's log has nothing"))
        .isEqualTo(Resolved.SCHEDULED);
    assertThat(operator.resolve(task.task(), Resolution.DONE, "twice"))
        .isEqualTo(Resolved.NOT_PARKED);
    assertThat(db.column("select tries_left from escapement.task")).containsExactly("3");
    ClaimedTask again = claim(task.task());
    assertThat(again.attempt()).isEqualTo(3);
    see(Observation.accepted(again.task(), 3, null));
    assertThat(db.column("select outcome from escapement.attempt order by number"))
        .containsExactly("TIMEOUT", "MANUAL_RETRY", "ACCEPTED");
  }

  @Test
  void aProviderThatAsksForALongerWaitGetsIt() {
    ClaimedTask task = claimNew("to-push");
    see(Observation.refused(task.task(), 1, "HTTP 429", Duration.ofMinutes(2)));
    assertThat(waitSeconds(task.task())).isBetween(115L, 120L);
    dueNow();
    ClaimedTask second = claim(task.task());
    see(Observation.refused(second.task(), 2, "HTTP 429", Duration.ofDays(100_000)));
    assertThat(waitSeconds(task.task())).isLessThanOrEqualTo(Duration.ofDays(7).toSeconds());
  }

  @Test
  void knowledgeThatComesALittleLateIsNotThrownAway() {
    ClaimedTask task = claimNew("to-mail");
    loseLease();
    // Nobody has taken over.
    assertThat(see(Observation.accepted(task.task(), 1, "m-9"))).isEqualTo(TaskState.DONE);
  }

  @Test
  void acceptanceThatIsToldAfterTheTakeoverStandsBesideItAndIsReported() {
    ClaimedTask task = claimNew("to-mail");
    loseLease();
    worker.reclaim("default", TestLedger.ALL_SLOTS, 10);
    assertThat(worker.observe(List.of(Observation.accepted(task.task(), 1, "m-7"))).get(0))
        .isInstanceOf(ObserveAnswer.Late.class);
    assertThat(
            db.column(
                "select state || ' ' || late_outcome || ' ' || message_id"
                    + " from escapement.contradicted"))
        .containsExactly("UNKNOWN ACCEPTED m-7");
    assertThat(db.outcomes()).containsExactly("parked", "contradicted");
    // The first report stays.
    worker.observe(List.of(Observation.of(task.task(), 1, Observation.Seen.REJECTED, "no")));
    assertThat(db.column("select late_outcome from escapement.attempt"))
        .containsExactly("ACCEPTED");
    operator.resolve(task.task(), Resolution.DONE, "as it says");
    assertThat(db.number("select count(*) from escapement.contradicted")).isZero();
  }

  @Test
  void whatWasSeenMustFitWhatWasAskedFor() {
    ClaimedTask send = claimNew("to-bank");
    for (Observation.Seen wrong :
        List.of(
            Observation.Seen.FAILED, Observation.Seen.POISONED, Observation.Seen.QUERY_NOT_FOUND)) {
      assertThatThrownBy(() -> see(of(send, wrong)))
          .describedAs(wrong.name())
          .hasMessageContaining("is not what a worker can see");
    }
    ClaimedTask run = claimNew("to-local");
    assertThatThrownBy(() -> see(Observation.accepted(run.task(), 1, null)))
        .hasMessageContaining("is not what a worker can see");
  }

  @Test
  void aCancellationOfWhatIsUnknownStopsSendingButNotAsking() {
    ClaimedTask key = claimNew("to-push");
    see(of(key, Observation.Seen.TIMEOUT));
    ClaimedTask asked = claimNew("to-bank");
    see(of(asked, Observation.Seen.TIMEOUT));
    assertThat(cancel("to-push")).isEqualTo(CancelAnswer.Result.REQUESTED);
    assertParked(key.task(), "TIMEOUT");
    assertThat(cancel("to-bank")).isEqualTo(CancelAnswer.Result.REQUESTED);
    dueNow();
    ClaimedTask query = claim(asked.task());
    assertThat(query.action()).isEqualTo(ClaimedTask.Action.QUERY);
    assertThat(see(of(query, Observation.Seen.QUERY_NOT_FOUND))).isEqualTo(TaskState.CANCELLED);
    assertThat(operator.resolve(key.task(), Resolution.RETRY, "nothing there"))
        .isEqualTo(Resolved.CANCELLED);
  }

  @Test
  void anAcceptanceTellsThatTheCancellationCameTooLate() {
    ClaimedTask task = claimNew("to-mail");
    assertThat(cancel("to-mail")).isEqualTo(CancelAnswer.Result.REQUESTED);
    assertThat(see(Observation.accepted(task.task(), 1, null))).isEqualTo(TaskState.DONE);
    assertThat(
            db.events().stream()
                .filter(OutboxEvent.Outcome.class::isInstance)
                .map(OutboxEvent.Outcome.class::cast)
                .map(o -> o.change() + " " + o.cancelledTooLate()))
        .containsExactly("done true");
  }

  @Test
  void aCancelledQuarantinedTaskThatIsUncertainWaitsForAPerson() {
    ClaimedTask task = claimNew("to-bank");
    see(of(task, Observation.Seen.TIMEOUT));
    assertThat(operator.quarantine(task.task(), "odd")).isEqualTo(Quarantined.QUARANTINED);
    assertThat(cancel("to-bank")).isEqualTo(CancelAnswer.Result.REQUESTED);
    assertParked(task.task(), "TIMEOUT");
    assertThat(db.outcomes()).containsExactly("quarantined", "parked");
  }

  @Test
  void whatIsUncertainStaysSoInQuarantineAndIsSoughtAfterRedrive() {
    ClaimedTask task = claimNew("to-bank");
    see(of(task, Observation.Seen.TIMEOUT));
    assertThat(operator.quarantine(task.task(), "odd")).isEqualTo(Quarantined.QUARANTINED);
    assertThat(claimAnswer(task.task())).isInstanceOf(ClaimAnswer.NotClaimable.class);
    assertThat(operator.redrive(task.task(), 7, "stale")).isEqualTo(Redriven.WRONG_ATTEMPT);
    assertThat(operator.redrive(task.task(), 1, "go on")).isEqualTo(Redriven.REDRIVEN);
    // Haste must not make "not found" of what cannot be found yet.
    assertThat(waitSeconds(task.task())).isBetween(25L, 30L);
    operator.reschedule(task.task(), 2, Instant.EPOCH, "now!");
    assertThat(waitSeconds(task.task())).isBetween(25L, 30L);
    dueNow();
    ClaimedTask next = claim(task.task());
    assertThat(next.attempt()).isEqualTo(3);
    assertThat(next.action()).isEqualTo(ClaimedTask.Action.QUERY);
    assertThat(next.triesLeft()).isEqualTo(2);
  }

  @Test
  void aRecipientIsToldOnEachChannelThatIsSwitchedOn() {
    prefer("u1", "mail", "a@example.org", true);
    prefer("u1", "push", "device-1", true);
    prefer("u1", "local", null, false);
    assertThat(
            db.submit(
                ingest,
                request("n").kind("note").namespace("/shop").subject("u1").value("12").build(),
                request("n").kind("note").namespace("/mall").subject("u1").value("12").build(),
                request("n").kind("note").tenant("rival").subject("u1").value("12").build()))
        .containsExactly(Decision.ACCEPTED, Decision.REPLAY, Decision.ACCEPTED);
    assertThat(
            db.column("select namespace || ' ' || task_count from escapement.intent order by id"))
        .containsExactly("escapement:acme/u1 2", "escapement:rival/u1 0");
    assertThat(
            db.column(
                "select used_tasks || ' ' || used_bytes from escapement.budget"
                    + " where tenant = 'acme'"))
        .containsExactly("2 4");
    List<ClaimAnswer> answers =
        worker.claimDue("w/n", "default", TestLedger.ALL_SLOTS, WorkFilter.ANY, 10);
    assertThat(answers)
        .map(a -> ((ClaimAnswer.Claimed) a).lease())
        .extracting(t -> t.channel() + " " + t.address())
        .containsExactlyInAnyOrder("mail a@example.org", "push device-1");
  }

  @Test
  void whatIsSwitchedOffBeforeTheClaimIsSuppressed() {
    prefer("u1", "mail", "a@example.org", true);
    Instant due = Instant.now().plusSeconds(60);
    db.submit(
        ingest,
        request("n").kind("note").subject("u1").dueAt(due).expiresAt(due.plusSeconds(1)).build());
    prefer("u1", "mail", "a@example.org", false);
    // Expired as well: the preference comes first.
    db.execute(
        "update escapement.task set due_at = now() - interval '1 minute',"
            + " expires_at = now() - interval '1 second'");
    long task = db.number("select id from escapement.task");
    assertThat(claimAnswer(task)).isEqualTo(new ClaimAnswer.Settled(task, TaskState.SUPPRESSED));
    assertThat(db.outcomes()).containsExactly("suppressed");
    operator.fold();
    assertThat(db.column("select used_tasks from escapement.budget")).containsOnly("0");
  }

  @Test
  void aNotificationToNobodyIsAcceptedThoughNothingFits() {
    operator.setLimits(0, 0, "full");
    assertThat(db.submit(ingest, request("n").kind("note").subject("u1").build()))
        .containsExactly(Decision.ACCEPTED);
    assertThat(db.submit(ingest, request("n").kind("note").subject("u1").build()))
        .containsExactly(Decision.REPLAY);
    assertThat(operator.cancel("escapement:acme/u1", "n", false, "r")).isEmpty();
  }

  @Test
  void aNotificationIsAdmittedWholeOrNotAtAll() {
    prefer("u1", "mail", "a@example.org", true);
    prefer("u1", "push", "device-1", true);
    operator.setLimits(1, 1_000, "one seat");
    assertThat(db.submit(ingest, request("n").kind("note").subject("u1").build()))
        .containsExactly(Decision.GLOBAL_FULL);
    operator.setLimits(2, 1_000, "two seats");
    operator.setTenant("acme", 10, 3, 1, "bytes count for each task");
    assertThat(db.submit(ingest, request("n").kind("note").subject("u1").value("22").build()))
        .containsExactly(Decision.TENANT_FULL);
    assertThat(db.submit(ingest, request("n").kind("note").subject("u1").value("1").build()))
        .containsExactly(Decision.ACCEPTED);
  }

  @Test
  void aNotificationWithoutARecipientIsInvalid() {
    assertThat(db.submit(ingest, request("n").kind("note").subject(null).build()))
        .containsExactly(Decision.INVALID);
    assertThat(db.submit(ingest, request("n").namespace("escapement:acme/u1").build()))
        .containsExactly(Decision.INVALID);
  }

  @Test
  void recipientsOfTenantsWithStrangeNamesAreApart() {
    assertThat(
            db.submit(
                ingest,
                request("n").kind("note").tenant("a/b").subject("c").build(),
                request("n").kind("note").tenant("a").subject("b/c").build(),
                request("n").kind("note").tenant("a%2Fb").subject("c").build()))
        .containsOnly(Decision.ACCEPTED);
  }

  @Test
  void aPreferenceOfAnOldVersionChangesNothing() {
    Preference third = new Preference("acme", "u1", "mail", "new@example.org", true, 3L);
    assertThat(operator.setPreference(third, "r")).isTrue();
    assertThat(
            operator.setPreference(
                new Preference("acme", "u1", "mail", "old@example.org", true, 2L), "r"))
        .isFalse();
    assertThat(operator.setPreference(third, "again")).isFalse();
    assertThat(db.column("select address || version from escapement.preference"))
        .containsExactly("new@example.org3");
  }

  @Test
  void definitionsThatCannotHoldAreRefused() {
    assertThatThrownBy(() -> operator.defineChannel(ChannelDefinition.opaque("push", TIMEOUT), "r"))
        .hasMessageContaining("its contract can't change");
    assertThatThrownBy(
            () -> operator.defineKind(KindDefinition.local("to-push").byPreference("push"), "r"))
        .hasMessageContaining("its routing can't change");
    assertThatThrownBy(
            () ->
                operator.defineKind(
                    KindDefinition.local("quick")
                        .withChannel("push")
                        .withLease(Duration.ofSeconds(5)),
                    "r"))
        .hasMessageContaining("must be shorter than the lease");
    assertThatThrownBy(
            () ->
                operator.defineChannel(
                    ChannelDefinition.opaque("mail", Duration.ofSeconds(30)), "r"))
        .hasMessageContaining("must be shorter than the lease");
    assertThatThrownBy(() -> operator.defineKind(KindDefinition.local("k").withMaxAttempts(0), "r"))
        .hasMessageContaining("kind k: not as it must be: CHECK (((max_attempts >= 1)");
    assertThatThrownBy(
            () -> operator.defineChannel(ChannelDefinition.opaque("sms", Duration.ZERO), "r"))
        .hasMessageContaining("channel sms: not as it must be: CHECK");
    assertThatThrownBy(
            () -> operator.defineKind(KindDefinition.local("k").withChannel("nowhere"), "r"))
        .hasMessageContaining("there is no channel nowhere");
  }

  private void prefer(String subject, String channel, @Nullable String address, boolean enabled) {
    operator.setPreference(
        new Preference("acme", subject, channel, address, enabled, null), "test");
  }

  private ClaimedTask claimNew(String kind) {
    assertThat(db.submit(ingest, request(kind).kind(kind).build()))
        .containsExactly(Decision.ACCEPTED);
    return claim(db.number("select max(id) from escapement.task where kind = '" + kind + "'"));
  }

  private ClaimedTask claim(long task) {
    ClaimAnswer answer =
        await()
            .atMost(Duration.ofSeconds(20))
            .until(() -> claimAnswer(task), a -> !(a instanceof ClaimAnswer.NotDue));
    return ((ClaimAnswer.Claimed) answer).lease();
  }

  private ClaimAnswer claimAnswer(long task) {
    return worker.claim("w/" + ++claims, WorkFilter.ANY, List.of(task)).get(0);
  }

  private TaskState see(Observation observation) {
    return ((ObserveAnswer.Applied) worker.observe(List.of(observation)).get(0)).state();
  }

  private static Observation of(ClaimedTask task, Observation.Seen seen) {
    return Observation.of(task.task(), task.attempt(), seen, null);
  }

  private CancelAnswer.Result cancel(String id) {
    return operator.cancel("/test", id, false, "r").get(0).result();
  }

  private void loseLease() {
    db.execute(
        "update escapement.task set lease_until = clock_timestamp() where state = 'CLAIMED'");
  }

  private void dueNow() {
    db.execute("update escapement.task set due_at = now() where due_at is not null");
  }

  private long waitSeconds(long task) {
    return db.number(
        "select floor(extract(epoch from due_at - clock_timestamp()))::bigint"
            + " from escapement.task where id = "
            + task);
  }

  private void assertParked(long task, String outcome) {
    assertThat(db.column("select outcome from escapement.needs_review where task = " + task))
        .containsExactly(outcome);
  }
}
