package io.escapement.ledger;

import static io.escapement.ledger.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is forgotten, when, and that it can't come back to life. */
class RetentionPostgresTest {

  private TestLedger db;
  private Ledger ingest;
  private Ledger worker;
  private Ledger operator;

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
  void whatEndedBeforeTheWindowIsForgottenWithAllThatHangsOnIt() {
    complete("old");
    complete("young");
    age("old", "7 days 61 minutes", "7 days 61 minutes");
    age("young", "7 days 59 minutes", "7 days 59 minutes");
    assertThat(worker.forget(100)).isEqualTo(new Forgotten(1, 1, true));
    assertThat(db.column("select event_id from escapement.intent")).containsExactly("young");
    for (String table : List.of("task", "attempt", "effect")) {
      assertThat(db.number("select count(*) from escapement." + table)).isEqualTo(1);
    }
  }

  @Test
  void aReplayKeepsItsIdentityForAnotherWindow() {
    complete("a");
    age("a", "8 days", "8 days");
    Instant recently = Instant.now().minus(Duration.ofDays(1));
    assertThat(db.submit(ingest, request("a").issuedAt(recently).build()))
        .containsExactly(Decision.REPLAY);
    assertThat(worker.forget(100)).isEqualTo(new Forgotten(0, 0, true));
  }

  /** The identity is gone, but whoever could still send it is too late: it can't run twice. */
  @Test
  void whatWasForgottenIsTooOldToComeBack() {
    complete("a");
    Instant issued = Instant.now().minus(Duration.ofDays(8));
    age("a", "8 days", "8 days");
    worker.forget(100);
    assertThat(db.submit(ingest, request("a").issuedAt(issued).build()))
        .containsExactly(Decision.TOO_OLD);
  }

  @Test
  void whatIsOutstandingIsKeptHoweverOld() {
    db.submit(ingest, request("waits").dueAt(Instant.now().plusSeconds(60)).build());
    age("waits", "800 days", "800 days");
    assertThat(worker.forget(100)).isEqualTo(new Forgotten(0, 0, true));
    assertThat(db.number("select count(*) from escapement.intent")).isEqualTo(1);
  }

  @Test
  void aNotificationToNobodyIsForgottenToo() {
    operator.defineKind(KindDefinition.local("note").byPreference("local"), "test");
    db.submit(ingest, request("n").kind("note").subject("u1").build());
    db.execute(
        "update escapement.intent set accepted_at = now() - interval '8 days',"
            + " last_issued_at = now() - interval '8 days'");
    assertThat(worker.forget(100)).isEqualTo(new Forgotten(1, 0, true));
  }

  @Test
  void eachCallLooksAtSoManyAndGoesOnWhereTheLastOneStopped() {
    Submission.Request[] many = new Submission.Request[25];
    for (int i = 0; i < many.length; i++) {
      many[i] = request("n" + i).build();
    }
    db.submit(ingest, many);
    // Every fifth is outstanding: they are passed over, not stumbled over.
    db.execute(
        "update escapement.task set state = 'CANCELLED', due_at = null"
            + " where (id - (select min(id) from escapement.task)) % 5 <> 0");
    db.execute("update escapement.budget set used_tasks = 5, used_bytes = 10");
    db.execute(
        "update escapement.intent set accepted_at = now() - interval '9 days',"
            + " last_issued_at = now() - interval '9 days'");
    assertThat(worker.forget(10)).isEqualTo(new Forgotten(8, 8, false));
    assertThat(worker.forget(10)).isEqualTo(new Forgotten(8, 8, false));
    assertThat(worker.forget(10)).isEqualTo(new Forgotten(4, 4, true));
    assertThat(worker.forget(10)).isEqualTo(new Forgotten(0, 0, true));
    assertThat(db.number("select count(*) from escapement.intent")).isEqualTo(5);
  }

  @Test
  void itWaitsForNobody() throws SQLException {
    complete("held");
    complete("free");
    age("held", "8 days", "8 days");
    age("free", "8 days", "8 days");
    try (Connection holder = db.connection();
        Statement s = holder.createStatement()) {
      holder.setAutoCommit(false);
      s.execute("select 1 from escapement.intent where event_id = 'held' for update");
      assertThat(worker.forget(100)).isEqualTo(new Forgotten(1, 1, true));
      s.execute("select 1 from escapement.retention for update");
      assertThat(worker.forget(100)).isEqualTo(new Forgotten(0, 0, true));
      holder.rollback();
    }
    assertThat(operator.retire(100, "the rest")).isEqualTo(new Forgotten(1, 1, true));
  }

  private void complete(String id) {
    assertThat(db.submit(ingest, request(id).build())).containsExactly(Decision.ACCEPTED);
    long task = db.number("select max(id) from escapement.task");
    ClaimAnswer claim = worker.claim("w/" + id, WorkFilter.ANY, List.of(task)).get(0);
    assertThat(claim).isInstanceOf(ClaimAnswer.Claimed.class);
    worker.observe(List.of(Observation.completed(task, 1, new byte[] {1})));
  }

  private void age(String id, String accepted, String issued) {
    db.execute(
        "update escapement.intent set accepted_at = now() - interval '"
            + accepted
            + "', last_issued_at = now() - interval '"
            + issued
            + "' where event_id = '"
            + id
            + "'");
  }
}
