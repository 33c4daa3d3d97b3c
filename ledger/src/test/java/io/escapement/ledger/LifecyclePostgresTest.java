package io.escapement.ledger;

import static io.escapement.ledger.Requests.request;
import static io.escapement.ledger.TestLedger.ALL_SLOTS;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** One task through all that can happen to it. */
class LifecyclePostgresTest {

  private static final byte[] EFFECT = "done".getBytes(StandardCharsets.UTF_8);

  @Test
  void aThreeByteTaskKeepsItsSeatUntilItsFencedCompletionCommits() {
    try (TestLedger db = TestLedger.create()) {
      Ledger worker = db.connect(Role.DISPATCHER);
      Ledger operator = db.connect(Role.OPERATOR);
      // One character, three bytes.
      db.submit(db.connect(Role.INGEST), request("a").value("€").build());
      long task = db.number("select id from escapement.task");
      assertHolds(db, operator, "SCHEDULED 0");

      claim(worker, task, 1);
      db.execute("update escapement.task set lease_until = clock_timestamp()");
      assertThat(worker.reclaim("default", ALL_SLOTS, 10)).hasSize(1);
      assertHolds(db, operator, "SCHEDULED 1");
      assertThat(complete(worker, task, 1)).isInstanceOf(ObserveAnswer.Late.class);
      assertHolds(db, operator, "SCHEDULED 1");

      claim(worker, task, 2);
      assertThat(complete(worker, task, 1))
          .as("stale, while another holds it")
          .isInstanceOf(ObserveAnswer.Late.class);
      assertHolds(db, operator, "CLAIMED 2");
      worker.observe(List.of(Observation.failed(task, 2, "no")));
      assertThat(operator.quarantine(task, "look at it")).isEqualTo(Quarantined.QUARANTINED);
      assertHolds(db, operator, "QUARANTINED 2");
      assertThat(complete(worker, task, 2)).isInstanceOf(ObserveAnswer.Repeated.class);
      assertHolds(db, operator, "QUARANTINED 2");

      assertThat(operator.redrive(task, 1, "stale")).isEqualTo(Redriven.WRONG_ATTEMPT);
      assertHolds(db, operator, "QUARANTINED 2");
      assertThat(operator.redrive(task, 2, "looked")).isEqualTo(Redriven.REDRIVEN);
      assertHolds(db, operator, "SCHEDULED 3");

      ClaimedTask last = claim(worker, task, 4);
      ObserveAnswer answer =
          worker.complete(
              last,
              c -> {
                assertHolds(db, operator, "CLAIMED 4");
                return Observation.completed(task, 4, EFFECT);
              });
      assertThat(answer).isEqualTo(new ObserveAnswer.Applied(task, 4, TaskState.DONE, null));
      assertThat(use(db)).containsExactly("0,0", "0,0");
      operator.fold();
      Map<String, List<String>> ended = LedgerImage.of(db);
      assertThat(complete(worker, task, 4))
          .isEqualTo(new ObserveAnswer.Repeated(task, 4, TaskState.DONE, "COMPLETED"));
      assertThat(LedgerImage.of(db)).isEqualTo(ended);
      assertThat(use(db)).containsExactly("0,0", "0,0");
      assertThat(operator.audit()).isEmpty();
      assertThat(db.column("select outcome from escapement.attempt order by number"))
          .containsExactly("LEASE_EXPIRED", "FAILED", "REDRIVEN", "COMPLETED");
    }
  }

  /** It is in a state at an attempt, and holds one seat of three bytes. */
  private static void assertHolds(TestLedger db, Ledger operator, String where) {
    assertThat(db.column("select state || ' ' || attempt from escapement.task"))
        .containsExactly(where);
    assertThat(use(db)).as(where).containsExactly("1,3", "1,3");
    assertThat(operator.audit()).as(where).isEmpty();
  }

  private static List<String> use(TestLedger db) {
    return db.column("select used_tasks || ',' || used_bytes from escapement.budgets");
  }

  private static ClaimedTask claim(Ledger worker, long task, int attempt) {
    ClaimAnswer answer = worker.claim("w/" + attempt, WorkFilter.ANY, List.of(task)).get(0);
    ClaimedTask lease = ((ClaimAnswer.Claimed) answer).lease();
    assertThat(lease.attempt()).isEqualTo(attempt);
    return lease;
  }

  private static ObserveAnswer complete(Ledger worker, long task, int attempt) {
    return worker.observe(List.of(Observation.completed(task, attempt, EFFECT))).get(0);
  }
}
