package io.escapement.ledger;

import static io.escapement.ledger.Decision.ACCEPTED;
import static io.escapement.ledger.Decision.CONFLICT;
import static io.escapement.ledger.Decision.GLOBAL_FULL;
import static io.escapement.ledger.Decision.REPLAY;
import static io.escapement.ledger.Decision.TENANT_FULL;
import static io.escapement.ledger.Requests.request;
import static io.escapement.ledger.TestLedger.ALL_SLOTS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is promised by name about seats and identities, each shown once. */
class LedgerFactsPostgresTest {

  private static final byte[] EFFECT = "done".getBytes(StandardCharsets.UTF_8);
  private static final String LOCK_TIMEOUT = "55P03";

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
  void close() {
    db.close();
  }

  // Seats.

  @Test
  void twoTenantsThatFillTheLedgerLeaveNoRoomForAThird() {
    operator.setLimits(4, 1_000_000, "test");
    assertThat(
            db.submit(
                ingest,
                request("1").tenant("A").build(),
                request("2").tenant("A").build(),
                request("3").tenant("B").build(),
                request("4").tenant("B").build()))
        .containsOnly(ACCEPTED);
    assertThat(db.submit(ingest, request("5").tenant("C").build())).containsExactly(GLOBAL_FULL);
    assertThat(db.column("select tenant from escapement.budgets where tenant is not null"))
        .as("who was refused leaves nothing behind")
        .containsExactlyInAnyOrder("A", "B");
    assertThat(operator.audit()).isEmpty();
  }

  @Test
  void tenTasksOneAfterAnotherEndWithNothingInUse() {
    operator.setTenant("acme", 1, 2, 1, "test");
    for (int i = 0; i < 10; i++) {
      assertThat(db.submit(ingest, request("n" + i).build())).containsExactly(ACCEPTED);
      ClaimedTask claimed = claim(taskOf("n" + i));
      assertThat(complete(claimed)).isInstanceOf(ObserveAnswer.Applied.class);
    }
    assertThat(use()).containsOnly("0,0");
    assertThat(db.number("select count(distinct event_id) from escapement.intent")).isEqualTo(10);
    assertThat(db.number("select count(distinct task_id) from escapement.effect")).isEqualTo(10);
    assertThat(operator.audit()).isEmpty();
  }

  @Test
  void ninetyAndThirtyNineBytesAreMoreThanATenantsHundredAndTwentyEight() {
    operator.setTenant("acme", 1_000, 128, 1, "test");
    assertThat(db.submit(ingest, request("a").value("x".repeat(90)).build()))
        .containsExactly(ACCEPTED);
    assertThat(db.submit(ingest, request("b").value("x".repeat(39)).build()))
        .containsExactly(TENANT_FULL);
    assertThat(use()).containsOnly("1,90");
  }

  @Test
  void twiceNinetySixAndSixtyFiveBytesAreMoreThanAGlobalTwoHundredAndFiftySix() {
    operator.setLimits(1_000, 256, "test");
    List<Decision> decisions = new ArrayList<>();
    for (int bytes : new int[] {96, 96, 65}) {
      String tenant = "t" + decisions.size();
      decisions.addAll(
          db.submit(ingest, request(tenant).tenant(tenant).value("x".repeat(bytes)).build()));
    }
    assertThat(decisions).containsExactly(ACCEPTED, ACCEPTED, GLOBAL_FULL);
    assertThat(
            db.column(
                "select used_tasks || ',' || used_bytes from escapement.budget where tenant = ''"))
        .containsExactly("2,192");
  }

  @Test
  void aLockTimeoutIsNeverReportedAsFull() throws Exception {
    operator.setLimits(1, 1_000_000, "test");
    UUID topic = UUID.randomUUID();
    try (Ledger impatient = connect(Role.INGEST, Duration.ofMillis(200))) {
      try (Connection holder = db.connection();
          Statement s = holder.createStatement()) {
        holder.setAutoCommit(false);
        s.execute("select from escapement.budget where tenant = '' for update");
        assertThatThrownBy(() -> impatient.admit(ChildSession.batch(topic, request("a"))))
            .isInstanceOfSatisfying(
                LedgerException.class, e -> assertThat(e.sqlState()).isEqualTo(LOCK_TIMEOUT));
        holder.rollback();
      }
      assertThat(decide(impatient, ChildSession.batch(topic, request("a")))).isEqualTo(ACCEPTED);
    }
    assertThat(operator.audit()).isEmpty();
  }

  /** Not even when it is full: whoever could not look can't know. */
  @Test
  void aLockTimeoutIsNotReportedAsFullWhenItIsFull() throws Exception {
    operator.setLimits(1, 1_000_000, "test");
    assertThat(db.submit(ingest, request("a").build())).containsExactly(ACCEPTED);
    try (Ledger impatient = connect(Role.INGEST, Duration.ofMillis(200));
        Connection holder = db.connection();
        Statement s = holder.createStatement()) {
      holder.setAutoCommit(false);
      s.execute("select from escapement.budget where tenant = '' for update");
      assertThatThrownBy(() -> db.submit(impatient, request("b").build()))
          .isInstanceOf(LedgerException.class);
      assertThat(db.submit(impatient, request("a").build()))
          .as("what is known needs no budget")
          .containsExactly(REPLAY);
      holder.rollback();
      assertThat(db.submit(impatient, request("b").build())).containsExactly(GLOBAL_FULL);
    }
  }

  @Test
  void aSqlErrorBetweenIntentAndTaskLeavesNothing() {
    db.execute(
        """
        create function public.refuse() returns trigger language plpgsql as $$
        begin
          raise exception 'no disk left' using errcode = '53100';
        end $$;
        create trigger refuse before insert on escapement.task for each row
          execute function public.refuse();
        """);
    Map<String, List<String>> before = LedgerImage.of(db);
    AdmissionBatch batch = ChildSession.batch(UUID.randomUUID(), request("a"));
    assertThatThrownBy(() -> ingest.admit(batch)).isInstanceOf(LedgerException.class);
    assertThat(LedgerImage.of(db)).isEqualTo(before);
    assertThat(operator.audit()).isEmpty();
    db.execute("drop trigger refuse on escapement.task");
    assertThat(decide(ingest, batch)).isEqualTo(ACCEPTED);
  }

  // Identities.

  @Test
  void aTerminalIdentityIsAReplayAndNeverRevives() {
    assertThat(db.submit(ingest, request("done").build(), request("cancelled").build()))
        .containsOnly(ACCEPTED);
    complete(claim(taskOf("done")));
    operator.cancel("/test", "cancelled", false, "test");
    operator.setLimits(0, 0, "not even now is there room");
    Instant later = Instant.now();
    assertThat(
            db.submit(
                ingest,
                request("done").issuedAt(later).dueAt(later.plusSeconds(60)).build(),
                request("cancelled").issuedAt(later).build(),
                request("done").value("another").build()))
        .containsExactly(REPLAY, REPLAY, CONFLICT);
    assertThat(
            db.column(
                "select event_id || ' ' || state || coalesce(due_at::text, '')"
                    + " from escapement.task t join escapement.intent i on i.id = t.intent_id"))
        .containsExactlyInAnyOrder("done DONE", "cancelled CANCELLED");
    for (String id : List.of("done", "cancelled")) {
      assertThat(worker.claim("w/" + id, WorkFilter.ANY, List.of(taskOf(id))).get(0))
          .isInstanceOf(ClaimAnswer.NotClaimable.class);
    }
    assertThat(
            worker
                .horizon("default", ALL_SLOTS, WorkFilter.ANY, later.plusSeconds(120), 100)
                .entries())
        .isEmpty();
    assertThat(use()).containsOnly("0,0");
    assertThat(operator.audit()).isEmpty();
  }

  // Operators.

  @Test
  void aRedriveWithTheWrongAttemptChangesNothing() {
    long task = quarantined();
    Map<String, List<String>> before = rowsButActions();
    assertThat(operator.redrive(task, 0, "stale")).isEqualTo(Redriven.WRONG_ATTEMPT);
    assertThat(operator.redrive(task, 2, "premature")).isEqualTo(Redriven.WRONG_ATTEMPT);
    assertThat(rowsButActions()).isEqualTo(before);
    assertThat(db.column("select result from escapement.operator_action where action = 'redrive'"))
        .as("but both were written down")
        .containsExactly("WRONG_ATTEMPT", "WRONG_ATTEMPT");
  }

  @Test
  void ofTwoScreensWithTheSameViewOneRedrives() {
    assertThat(redrivesOfTwoScreens((task, attempt) -> operator.redrive(task, attempt, "screen")))
        .containsExactly(Redriven.REDRIVEN, Redriven.WRONG_ATTEMPT);
  }

  /** The control: a redrive that asks for the attempt only when it comes repeats itself. */
  @Test
  void aRedriveOfWhateverAttemptRedrivesAgain() {
    assertThat(
            redrivesOfTwoScreens(
                (task, attempt) ->
                    operator.redrive(
                        task,
                        (int) db.number("select attempt from escapement.task where id = " + task),
                        "screen")))
        .containsExactly(Redriven.REDRIVEN, Redriven.REDRIVEN);
  }

  /** How a screen redrives what it shows. */
  @FunctionalInterface
  private interface Screen {
    Redriven redrive(long task, int attempt);
  }

  /** Two screens show the same failure; between their clicks the task fails again. */
  private List<Redriven> redrivesOfTwoScreens(Screen screen) {
    long task = quarantined();
    Redriven first = screen.redrive(task, 1);
    ClaimedTask claimed = claim(task);
    worker.observe(List.of(Observation.failed(task, claimed.attempt(), "again")));
    operator.quarantine(task, "again");
    return List.of(first, screen.redrive(task, 1));
  }

  private long quarantined() {
    db.submit(ingest, request("a").build());
    long task = taskOf("a");
    ClaimedTask claimed = claim(task);
    worker.observe(List.of(Observation.failed(task, claimed.attempt(), "no")));
    assertThat(operator.quarantine(task, "test")).isEqualTo(Quarantined.QUARANTINED);
    return task;
  }

  private Map<String, List<String>> rowsButActions() {
    Map<String, List<String>> rows = LedgerImage.of(db);
    rows.remove("escapement.operator_action");
    return rows;
  }

  // The fence.

  @Test
  void aLateCompletionTouchesNothingOfTheNextAttempt() {
    assertThat(afterTakeover((task, attempt) -> complete(task, attempt))).isEmpty();
  }

  /** The control: a completion that knows the task and not the attempt. */
  @Test
  void aCompletionByIdWithoutTheAttemptTakesTheTaskFromItsHolder() {
    assertThat(afterTakeover((task, attempt) -> db.execute(WrongSql.completeById(task, attempt))))
        .contains("the holder's task is DONE", "1 effects of attempt 1");
  }

  /** How a worker that was overtaken says that its work is done. */
  @FunctionalInterface
  private interface LateReport {
    void send(long task, int attempt);
  }

  /** What is wrong after the first of two holders of a task has reported late. */
  private List<String> afterTakeover(LateReport report) {
    db.submit(ingest, request("a").build());
    ClaimedTask first = claim(taskOf("a"));
    db.execute("update escapement.task set lease_until = clock_timestamp()");
    worker.reclaim("default", ALL_SLOTS, 10);
    ClaimedTask second = claim(first.task());
    report.send(first.task(), first.attempt());

    List<String> faults = new ArrayList<>();
    String state = db.column("select state from escapement.task").get(0);
    if (!state.equals("CLAIMED")) {
      faults.add("the holder's task is " + state);
    }
    long effects = db.number("select count(*) from escapement.effect where attempt = 1");
    if (effects != 0) {
      faults.add(effects + " effects of attempt 1");
    }
    if (!(complete(second) instanceof ObserveAnswer.Applied)) {
      faults.add("the holder can't complete");
    }
    operator.audit().forEach(v -> faults.add(v.toString()));
    return faults;
  }

  // Helpers.

  private void complete(long task, int attempt) {
    worker.observe(List.of(Observation.completed(task, attempt, EFFECT)));
  }

  private ObserveAnswer complete(ClaimedTask claimed) {
    return worker
        .observe(List.of(Observation.completed(claimed.task(), claimed.attempt(), EFFECT)))
        .get(0);
  }

  private ClaimedTask claim(long task) {
    return ((ClaimAnswer.Claimed)
            worker.claim("w/" + ++claims, WorkFilter.ANY, List.of(task)).get(0))
        .lease();
  }

  private long taskOf(String id) {
    return db.number("select first_task from escapement.intent where event_id = '" + id + "'");
  }

  private List<String> use() {
    operator.fold();
    return db.column("select used_tasks || ',' || used_bytes from escapement.budgets");
  }

  private Ledger connect(Role role, Duration lockTimeout) {
    LedgerConfig c = db.config();
    return Ledger.connect(
        new LedgerConfig(
            c.url(),
            c.user(),
            c.password(),
            1,
            c.connectTimeout(),
            c.statementTimeout(),
            lockTimeout),
        role);
  }

  private static Decision decide(Ledger ledger, AdmissionBatch batch) {
    return ((Admission.Decided) ledger.admit(batch)).decisions().get(0).decision();
  }
}
