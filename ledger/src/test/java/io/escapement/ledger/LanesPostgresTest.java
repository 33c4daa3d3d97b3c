package io.escapement.ledger;

import static io.escapement.ledger.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LanesPostgresTest {

  private TestLedger db;
  private Ledger operator;
  private Ledger dispatcher;

  @BeforeEach
  void open() {
    db = TestLedger.create();
    operator = db.connect(Role.OPERATOR);
    dispatcher = db.connect(Role.DISPATCHER);
    operator.defineChannel(ChannelDefinition.opaque("mail", Duration.ofSeconds(5)), "test");
    operator.defineKind(KindDefinition.local("letter").withChannel("mail"), "test");
  }

  @AfterEach
  void close() {
    db.close();
  }

  @Test
  void aTasksKindAndChannelAreTold() {
    submit(request("a").build(), request("b").kind("letter").build());
    long work = db.number("select id from escapement.task where kind = 'work'");
    long letter = db.number("select id from escapement.task where kind = 'letter'");
    assertThat(dispatcher.lanesOf(List.of(work, letter, letter + 1_000_000)))
        .isEqualTo(Map.of(work, new Lane("work", "local"), letter, new Lane("letter", "mail")));
    assertThat(dispatcher.lanesOf(List.of())).isEmpty();
  }

  @Test
  void whatIsDueAndNobodyHereCanRunIsToldWithSinceWhen() {
    submit(
        request("a").build(),
        request("b").kind("letter").build(),
        request("c").kind("letter").tenant("other").build());
    Instant oldest =
        Instant.parse(
            db.column(
                    "select to_char(min(due_at) at time zone 'utc', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
                        + " from escapement.task where kind = 'letter'")
                .get(0));
    WorkFilter local = new WorkFilter(Set.of("work", "letter"), Set.of("local"));
    assertThat(dispatcher.unserved("default", local))
        .containsExactly(new UnservedLane(new Lane("letter", "mail"), oldest));
    WorkFilter mail = new WorkFilter(Set.of(), Set.of("local", "mail"));
    assertThat(dispatcher.unserved("default", mail))
        .extracting(UnservedLane::lane)
        .containsExactly(new Lane("work", "local"));
    assertThat(
            dispatcher.unserved("default", new WorkFilter(Set.of("work"), Set.of("local", "mail"))))
        .isEmpty();
    assertThat(dispatcher.unserved("default", WorkFilter.ANY)).isEmpty();
  }

  @Test
  void whatIsNotDueOrPausedIsNotMissed() {
    submit(request("b").kind("letter").dueAt(Instant.now().plusSeconds(3_600)).build());
    WorkFilter local = new WorkFilter(Set.of("work", "letter"), Set.of("local"));
    assertThat(dispatcher.unserved("default", local)).isEmpty();
    submit(request("c").kind("letter").build());
    operator.pause(PauseScope.CHANNEL, "mail", "test");
    assertThat(dispatcher.unserved("default", local)).isEmpty();
    operator.resume(PauseScope.CHANNEL, "mail", "test");
    assertThat(dispatcher.unserved("default", local)).hasSize(1);
  }

  /**
   * A channel that is named serves any kind; kinds count where the work is done in the database.
   */
  @Test
  void aCallNeedsItsChannelAndLocalWorkItsHandler() {
    submit(request("a").build(), request("b").kind("letter").build());
    long work = db.number("select id from escapement.task where kind = 'work'");
    long letter = db.number("select id from escapement.task where kind = 'letter'");
    assertThat(claimed("1", new WorkFilter(Set.of("letter"), Set.of("local")))).isEmpty();
    assertThat(claimed("2", new WorkFilter(Set.of(), Set.of("local", "push")))).isEmpty();
    assertThat(claimed("3", WorkFilter.ofKinds(Set.of("other")))).isEmpty();
    assertThat(claimed("4", new WorkFilter(Set.of(), Set.of("local", "mail"))))
        .containsExactly(letter);
    assertThat(claimed("5", new WorkFilter(Set.of("work"), Set.of("local", "mail"))))
        .containsExactly(work);
  }

  @Test
  void theHorizonLeavesKindsOut() {
    submit(request("a").build(), request("b").kind("letter").build());
    WorkFilter both = new WorkFilter(Set.of("work"), Set.of("local", "mail"));
    assertThat(horizon(both, Set.of())).isEqualTo(2);
    assertThat(horizon(both, Set.of("letter"))).isEqualTo(1);
    assertThat(horizon(both, Set.of("letter", "work"))).isZero();
  }

  @Test
  void aWorkerPausesAChannelOfTheOutsideOnceAndNoOther() {
    assertThat(dispatcher.suspend("mail", "401 five times")).isTrue();
    assertThat(dispatcher.suspend("mail", "again")).isFalse();
    assertThat(db.column("select name || ': ' || reason from escapement.paused"))
        .containsExactly("mail: 401 five times");
    assertThat(db.column("select result from escapement.operator_action where action = 'suspend'"))
        .containsExactly("PAUSED", "ALREADY_PAUSED");
    assertThatThrownBy(() -> dispatcher.suspend("local", "no")).hasMessageContaining("local");
    assertThat(operator.resume(PauseScope.CHANNEL, "mail", "new credentials")).isTrue();
  }

  private List<Long> claimed(String owner, WorkFilter work) {
    return dispatcher.claimDue(owner, "default", TestLedger.ALL_SLOTS, work, 10).stream()
        .map(ClaimAnswer::task)
        .toList();
  }

  private int horizon(WorkFilter work, Set<String> without) {
    Instant until = Instant.now().plusSeconds(60);
    return dispatcher
        .horizon("default", TestLedger.ALL_SLOTS, work, until, 1_000, false, without)
        .entries()
        .size();
  }

  private void submit(Submission.Request... requests) {
    try (Ledger ingest = db.connect(Role.INGEST)) {
      assertThat(db.submit(ingest, requests)).containsOnly(Decision.ACCEPTED);
    }
  }
}
