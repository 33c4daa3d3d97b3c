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
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Small guards of the functions that no other test would miss. */
class GuardsPostgresTest {

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
  void whatHasEndedIsNotSettledAgainByAnyone() {
    db.submit(ingest, request("a").build());
    operator.cancel("/test", "a", false, "r");
    assertThatThrownBy(
            () ->
                db.execute(
                    "select escapement.settle(array(select id from escapement.task),"
                        + " array['TTL_EXPIRED'])"))
        .hasStackTraceContaining("no rule for some of the observations");
  }

  @Test
  void whatIsOutOfBoundsIsRefusedInWords() {
    String[][] wrong = {
      {"claim('', null, '{1}')", "a lease owner has 1 to 512 bytes"},
      {"claim(repeat('w', 513), null, '{1}')", "a lease owner has 1 to 512 bytes"},
      {"claim_due('w', 'default', null, null, 0)", "limit is from 1 to 10000"},
      {"claim_due('w', 'default', null, null, 10001)", "limit is from 1 to 10000"},
      {"forget(0)", "the limit is from 1 to 100000"},
      {"resolve_all('DONE', null, null, null, 10001)", "the limit is from 1 to 10000"},
      {"resolve(1, 'MAYBE')", "DONE, FAILED or RETRY, not MAYBE"},
      {"pause('galaxy', 'x')", "the scope is queue, kind, channel or tenant, not galaxy"},
      {"set_preference('t', 's', 'nowhere', null, true)", "there is no channel nowhere"},
      {"define_channel('a,b', 'OPAQUE', '1 s')", "a name has letters"},
      {"define_kind(E'a\\nb')", "its name has control characters"},
      {
        "define_kind('k', p_channels => '{local,local}', p_routing => 'PREFERENCE')",
        "names a channel twice"
      },
    };
    for (String[] one : wrong) {
      assertThatThrownBy(() -> db.execute("select * from escapement." + one[0]))
          .describedAs(one[0])
          .hasStackTraceContaining(one[1]);
    }
  }

  @Test
  void aWorkerGetsNothingOfChannelsThatItDoesNotServe() {
    db.submit(ingest, request("a").build());
    long task = db.number("select id from escapement.task");
    WorkFilter other = new WorkFilter(Set.of("work"), Set.of("elsewhere"));
    assertThat(worker.claim("w/1", other, List.of(task)).get(0))
        .isInstanceOf(ClaimAnswer.NotClaimable.class);
    assertThat(worker.claimDue("w/2", "default", TestLedger.ALL_SLOTS, other, 10)).isEmpty();
    assertThat(
            worker.horizon("default", TestLedger.ALL_SLOTS, other, Instant.now(), 1_000).entries())
        .isEmpty();
  }

  @Test
  void aFullLaneTellsHowFarTheHorizonIsComplete() {
    operator.pause(PauseScope.TENANT, "somebody else", "so that lanes are read");
    Instant base = Instant.now().plusSeconds(10);
    Submission.Request[] many = new Submission.Request[40];
    for (int i = 0; i < many.length; i++) {
      many[i] = request("n" + i).dueAt(base.plusMillis(i)).build();
    }
    db.submit(ingest, many);
    db.execute("update escapement.task set slot = 7");
    Horizon horizon =
        worker.horizon("default", List.of(7), WorkFilter.ANY, base.plusSeconds(60), 20);
    assertThat(horizon.entries()).hasSize(20);
    assertThat(horizon.completeUntil()).isBefore(base.plusMillis(20));
  }

  @Test
  void lateNewsThatCannotBeOfTheAttemptIsNotKept() {
    operator.defineChannel(ChannelDefinition.opaque("mail", Duration.ofSeconds(5)), "test");
    operator.defineKind(KindDefinition.local("letter").withChannel("mail"), "test");
    db.submit(ingest, request("a").kind("letter").build());
    long task = db.number("select id from escapement.task");
    worker.claim("w/1", WorkFilter.ANY, List.of(task));
    db.execute("update escapement.task set lease_until = clock_timestamp()");
    worker.reclaim("default", TestLedger.ALL_SLOTS, 10);
    worker.observe(List.of(Observation.of(task, 1, Observation.Seen.QUERY_FOUND, null)));
    assertThat(db.number("select count(*) from escapement.attempt where late_outcome is not null"))
        .isZero();
  }

  /** Two sessions draw ids in blocks by turns: each intent's tasks are a range all the same. */
  @Test
  void theTasksOfANotificationAreARangeOfIds() throws SQLException {
    for (String channel : List.of("a", "b", "c")) {
      operator.defineChannel(ChannelDefinition.opaque(channel, Duration.ofSeconds(5)), "test");
      operator.setPreference(new Preference("acme", "u", channel, null, true, null), "test");
    }
    operator.defineKind(KindDefinition.local("note").byPreference("a", "b", "c"), "test");
    try (Connection one = db.connection();
        Connection two = db.connection();
        Statement first = one.createStatement();
        Statement second = two.createStatement()) {
      for (int i = 0; i < 60; i++) {
        (i % 2 == 0 ? first : second)
            .execute(
                "select * from escapement.submit('/s', 'n" + i + "', 'acme', 'note', 'x', 'u')");
      }
    }
    assertThat(
            db.number(
                "select count(*) from escapement.task t join escapement.intent i"
                    + " on i.id = t.intent_id and t.id >= i.first_task"
                    + " and t.id < i.first_task + 3"))
        .isEqualTo(180);
  }
}
