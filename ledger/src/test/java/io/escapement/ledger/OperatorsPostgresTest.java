package io.escapement.ledger;

import static io.escapement.ledger.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What people do to single tasks, to many, and to lanes. */
class OperatorsPostgresTest {

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
  void aQuarantinedTaskKeepsItsSeatUntilItIsRedrivenAndDone() {
    long task = submit("a");
    assertThat(operator.quarantine(task, "looks odd")).isEqualTo(Quarantined.QUARANTINED);
    assertThat(operator.quarantine(task, "again")).isEqualTo(Quarantined.ALREADY_QUARANTINED);
    assertThat(used()).isEqualTo("1,2");
    assertThat(claim(task)).isInstanceOf(ClaimAnswer.NotClaimable.class);
    assertThat(operator.redrive(task, 5, "stale screen")).isEqualTo(Redriven.WRONG_ATTEMPT);
    assertThat(db.column("select state from escapement.task")).containsExactly("QUARANTINED");
    assertThat(operator.redrive(task, 0, "fixed")).isEqualTo(Redriven.REDRIVEN);
    assertThat(operator.redrive(task, 0, "twice")).isEqualTo(Redriven.NOT_QUARANTINED);
    ClaimAnswer answer = claim(task);
    assertThat(answer).isInstanceOf(ClaimAnswer.Claimed.class);
    ClaimedTask lease = ((ClaimAnswer.Claimed) answer).lease();
    assertThat(lease.attempt()).isEqualTo(2);
    worker.observe(List.of(Observation.completed(task, 2, new byte[] {1})));
    operator.fold();
    assertThat(used()).isEqualTo("0,0");
    assertThat(db.outcomes()).containsExactly("quarantined", "redriven", "done");
  }

  @Test
  void redriveGrantsTheTriesThatTheRequestAskedFor() {
    db.submit(ingest, request("a").maxAttempts(2).build());
    long task = db.number("select id from escapement.task");
    operator.quarantine(task, "r");
    operator.redrive(task, 0, "r");
    assertThat(db.column("select tries_left from escapement.task")).containsExactly("2");
  }

  @Test
  void whatRunsOrHasEndedIsNotQuarantined() {
    long task = submit("a");
    claim(task);
    assertThat(operator.quarantine(task, "r")).isEqualTo(Quarantined.RUNNING);
    assertThat(operator.reschedule(task, 1, Instant.now(), "r")).isEqualTo(Rescheduled.RUNNING);
    worker.observe(List.of(Observation.completed(task, 1, new byte[0])));
    assertThat(operator.quarantine(task, "r")).isEqualTo(Quarantined.NOT_WAITING);
    assertThat(operator.redrive(task, 1, "r")).isEqualTo(Redriven.NOT_QUARANTINED);
    assertThat(operator.resolve(task, Resolution.RETRY, "r")).isEqualTo(Resolved.NOT_PARKED);
    assertThat(operator.reschedule(task, 1, Instant.now(), "r")).isEqualTo(Rescheduled.NOT_WAITING);
    assertThat(operator.quarantine(-1, "r")).isEqualTo(Quarantined.NOT_FOUND);
    assertThat(operator.redrive(-1, 1, "r")).isEqualTo(Redriven.NOT_FOUND);
    assertThat(operator.resolve(-1, Resolution.DONE, "r")).isEqualTo(Resolved.NOT_FOUND);
    assertThat(operator.reschedule(-1, 1, Instant.now(), "r")).isEqualTo(Rescheduled.NOT_FOUND);
  }

  @Test
  void aWaitingTaskIsMovedInTime() {
    long task = submit("a");
    Instant later = Instant.now().plus(Duration.ofHours(1));
    assertThat(operator.reschedule(task, 3, later, "r")).isEqualTo(Rescheduled.WRONG_ATTEMPT);
    assertThat(operator.reschedule(task, 0, later, "r")).isEqualTo(Rescheduled.RESCHEDULED);
    assertThat(claim(task)).isInstanceOf(ClaimAnswer.NotDue.class);
    assertThat(operator.reschedule(task, 0, Instant.EPOCH, "now"))
        .isEqualTo(Rescheduled.RESCHEDULED);
    assertThat(claim(task)).isInstanceOf(ClaimAnswer.Claimed.class);
    assertThatThrownBy(
            () -> operator.reschedule(task, 0, Instant.now().plus(Duration.ofDays(40_000)), "r"))
        .hasMessageContaining("within a hundred years");
  }

  @Test
  void manyAreRedrivenAtOnceAndWhatWasLockedIsNamed() throws SQLException {
    operator.defineKind(KindDefinition.local("other"), "test");
    long first = submit("a");
    long second = submit("b");
    db.submit(ingest, request("c").kind("other").build());
    long other = db.number("select max(id) from escapement.task");
    for (long task : List.of(first, second, other)) {
      operator.quarantine(task, "r");
    }
    TaskFilter work = new TaskFilter("work", null, null);
    try (Connection holder = db.connection();
        Statement s = holder.createStatement()) {
      holder.setAutoCommit(false);
      s.execute("select 1 from escapement.task where id = " + second + " for update");
      assertThat(operator.redriveAll(work, 10, "all of them"))
          .containsExactly(Map.entry(first, Redriven.REDRIVEN), Map.entry(second, Redriven.BUSY));
      holder.rollback();
    }
    assertThat(operator.redriveAll(new TaskFilter(null, "local", null), 1, "one"))
        .containsExactly(Map.entry(second, Redriven.REDRIVEN));
    assertThat(operator.redriveAll(TaskFilter.ANY, 10, "rest"))
        .containsExactly(Map.entry(other, Redriven.REDRIVEN));
    assertThatThrownBy(() -> operator.redriveAll(TaskFilter.ANY, 0, "r"))
        .hasMessageContaining("the limit is from 1 to 10000");
  }

  @Test
  void manyAreResolvedByHowTheirLastAttemptEnded() {
    operator.defineChannel(ChannelDefinition.opaque("mail", Duration.ofSeconds(5)), "test");
    operator.defineKind(KindDefinition.local("letter").withChannel("mail"), "test");
    long[] tasks = new long[3];
    for (int i = 0; i < tasks.length; i++) {
      db.submit(ingest, request("l" + i).kind("letter").build());
      tasks[i] = db.number("select max(id) from escapement.task");
      claim(tasks[i]);
      Observation.Seen seen = i == 1 ? Observation.Seen.IO_ERROR : Observation.Seen.TIMEOUT;
      worker.observe(List.of(Observation.of(tasks[i], 1, seen, null)));
    }
    assertThat(
            operator.resolveAll(
                Resolution.DONE, new TaskFilter("letter", "mail", "TIMEOUT"), 10, "all arrived"))
        .containsOnlyKeys(tasks[0], tasks[2])
        .allSatisfy((task, result) -> assertThat(result).isEqualTo(Resolved.DONE));
    assertThat(operator.resolveAll(Resolution.FAILED, TaskFilter.ANY, 10, "lost"))
        .containsExactly(Map.entry(tasks[1], Resolved.FAILED));
  }

  @Test
  void whatIsPausedIsNotClaimedAndEverythingElseIs() {
    operator.defineKind(
        new KindDefinition(
            "aside",
            "side",
            "local",
            3,
            Duration.ofSeconds(30),
            Duration.ofMinutes(1),
            Duration.ZERO,
            Duration.ZERO,
            0,
            KindDefinition.Exhaustion.FAILED),
        "test");
    long acme = submit("a");
    db.submit(ingest, request("b").tenant("rival").build());
    long rival = db.number("select max(id) from escapement.task");
    db.submit(ingest, request("c").kind("aside").build());
    long aside = db.number("select max(id) from escapement.task");

    for (PauseScope scope : PauseScope.values()) {
      String name =
          switch (scope) {
            case QUEUE -> "default";
            case KIND -> "work";
            case CHANNEL -> "local";
            case TENANT -> "acme";
          };
      assertThat(operator.pause(scope, name, "r")).isTrue();
      assertThat(operator.pause(scope, name, "r")).isFalse();
      assertThat(claim(acme)).describedAs("%s", scope).isEqualTo(new ClaimAnswer.Paused(acme));
      assertThat(due("default"))
          .describedAs("%s", scope)
          .isEqualTo(scope == PauseScope.TENANT ? List.of(rival) : List.of());
      assertThat(claimDue("side"))
          .describedAs("%s", scope)
          .isEqualTo(
              scope == PauseScope.QUEUE || scope == PauseScope.KIND ? List.of(aside) : List.of());
      assertThat(operator.resume(scope, name, "r")).isTrue();
      assertThat(operator.resume(scope, name, "r")).isFalse();
      db.execute(
          "update escapement.task set state = 'SCHEDULED', action = null, claimed_at = null,"
              + " lease_owner = null, lease_until = null, attempt = 0, tries_left = 5,"
              + " due_at = now()");
    }
    assertThat(claim(acme)).isInstanceOf(ClaimAnswer.Claimed.class);
    db.execute("delete from escapement.attempt");
  }

  @Test
  void aPausedTaskThatExpiresGivesItsSeatBack() {
    db.submit(ingest, request("a").expiresAt(Instant.now().plusSeconds(60)).build());
    operator.pause(PauseScope.TENANT, "acme", "r");
    db.execute(
        "update escapement.task set due_at = now() - interval '1 minute', expires_at = now()");
    worker.reclaim("default", TestLedger.ALL_SLOTS, 10);
    operator.fold();
    assertThat(used()).isEqualTo("0,0");
    assertThat(db.column("select state from escapement.task")).containsExactly("FAILED");
  }

  @Test
  void everyActIsWrittenDownWithWhoWhyAndWhatCameOfIt() {
    long task = submit("a");
    operator.quarantine(task, "why 1");
    operator.redrive(task, 9, "why 2");
    operator.pause(PauseScope.KIND, "work", "why 3");
    operator.setTenant("acme", 5, 500, 2, "why 4");
    operator.retire(10, "why 5");
    assertThat(
            db.column(
                "select session_role || ' ' || action || ' ' || target || ' ' || reason || ' ' ||"
                    + " result from escapement.operator_action where reason like 'why%' order by id"))
        .containsExactly(
            "postgres quarantine " + task + " why 1 QUARANTINED",
            "postgres redrive " + task + "/9 why 2 WRONG_ATTEMPT",
            "postgres pause kind work why 3 PAUSED",
            "postgres set_tenant acme why 4 5 tasks, 500 bytes, weight 2",
            "postgres retire 10 why 5 0 intents, 0 tasks");
  }

  @Test
  void aReasonOfAnyContentIsKept() {
    long task = submit("a");
    operator.quarantine(task, "nul \0 lone \uD800 " + "x".repeat(10_000_000));
    assertThat(
            db.column("select reason from escapement.operator_action where action = 'quarantine'"))
        .singleElement()
        .satisfies(
            reason -> assertThat(reason).startsWith("nul \uFFFD lone \uFFFD xxx").endsWith(" […]"));
  }

  /** From psql too, where nobody cleans the text first. */
  @Test
  void theFunctionsThemselvesCutWhatIsTooLong() {
    long task = submit("a");
    claim(task);
    db.execute(
        "select escapement.observe(array["
            + task
            + "]::bigint[], array[1], array['FAILED'], array[repeat('é', 10000000)], null)");
    assertThat(db.number("select max(octet_length(detail)) from escapement.attempt"))
        .isLessThan(10_000);
    db.execute("select escapement.cancel('/test', 'a', repeat('y', 10000000))");
    assertThat(
            db.column(
                "select right(reason, 4) from escapement.operator_action"
                    + " where action = 'cancel'"))
        .containsExactly(" […]");
  }

  private long submit(String id) {
    assertThat(db.submit(ingest, request(id).build())).containsExactly(Decision.ACCEPTED);
    return db.number("select max(id) from escapement.task");
  }

  private ClaimAnswer claim(long task) {
    return worker.claim("w/" + ++claims, WorkFilter.ANY, List.of(task)).get(0);
  }

  private List<Long> claimDue(String queue) {
    return worker
        .claimDue("w/" + ++claims, queue, TestLedger.ALL_SLOTS, WorkFilter.ANY, 10)
        .stream()
        .map(ClaimAnswer::task)
        .toList();
  }

  /** What the horizon and a claim of what is due agree on. */
  private List<Long> due(String queue) {
    List<Long> read =
        worker
            .horizon(queue, TestLedger.ALL_SLOTS, WorkFilter.ANY, Instant.now(), 1_000)
            .entries()
            .stream()
            .map(Horizon.Entry::task)
            .toList();
    assertThat(claimDue(queue)).isEqualTo(read);
    return read;
  }

  private String used() {
    return db.column(
            "select used_tasks || ',' || used_bytes from escapement.budgets where tenant is null")
        .get(0);
  }
}
