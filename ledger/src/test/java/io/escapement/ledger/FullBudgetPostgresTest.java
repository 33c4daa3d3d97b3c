package io.escapement.ledger;

import static io.escapement.ledger.Decision.ACCEPTED;
import static io.escapement.ledger.Decision.GLOBAL_FULL;
import static io.escapement.ledger.Decision.TENANT_FULL;
import static io.escapement.ledger.PositionAdvance.WhenFull.HOLD_FOR_LEDGER;
import static io.escapement.ledger.PositionAdvance.WhenFull.HOLD_FOR_TENANT;
import static io.escapement.ledger.PositionAdvance.WhenFull.REJECT;
import static io.escapement.ledger.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.escapement.ledger.PositionAdvance.WhenFull;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What becomes of requests for which there is no room: refused with a hint, or waited with. */
class FullBudgetPostgresTest {

  private final PartitionKey shared = new PartitionKey("requests", UUID.randomUUID(), 0);
  private final PartitionKey own = new PartitionKey("requests.acme", UUID.randomUUID(), 0);

  private TestLedger db;
  private Ledger ingest;
  private Ledger operator;

  @BeforeEach
  void open() {
    db = TestLedger.create();
    ingest = db.connect(Role.INGEST);
    operator = db.connect(Role.OPERATOR);
  }

  @AfterEach
  void auditAndClose() {
    assertThat(operator.audit()).isEmpty();
    db.close();
  }

  @Test
  void aPartitionWaitsAtTheFirstRecordWithoutRoomAndNothingBehindItIsDecided() {
    limit(2);
    Admission.Decided first = admit(at(shared, null, 4, HOLD_FOR_LEDGER), "a", "b", "c", "d");
    assertThat(decisions(first)).containsExactly(ACCEPTED, ACCEPTED);
    assertThat(first.held()).containsExactly(new Admission.Decided.Held(0, 2, GLOBAL_FULL));
    assertThat(ingest.positions(List.of(shared))).containsEntry(shared, 2L);
    assertThat(receipts()).hasSize(2);
    assertThat(db.number("select count(*) from escapement.intent")).isEqualTo(2);
    assertThat(operator.status().held())
        .singleElement()
        .satisfies(
            held -> {
              assertThat(held.topic()).isEqualTo("requests");
              assertThat(held.position()).isEqualTo(2);
              assertThat(held.full()).isEqualTo(GLOBAL_FULL);
            });

    limit(10);
    PositionAdvance rest = at(shared, 2L, 4, HOLD_FOR_LEDGER);
    Admission.Decided second =
        (Admission.Decided)
            ingest.admit(
                new AdmissionBatch(
                    List.of(rest),
                    List.of(request("c").offset(2).build(), request("d").offset(3).build())));
    assertThat(decisions(second)).containsExactly(ACCEPTED, ACCEPTED);
    assertThat(operator.status().held()).isEmpty();
    assertThat(receipts()).hasSize(4);
  }

  @Test
  void aReplayBehindARecordThatWaitsIsNotDecidedEither() {
    db.submit(ingest, request("old").build());
    limit(1);
    Admission.Decided decided = admit(at(shared, null, 3, HOLD_FOR_LEDGER), "new", "old", "newer");
    assertThat(decided.decisions()).isEmpty();
    assertThat(decided.held()).containsExactly(new Admission.Decided.Held(0, 0, GLOBAL_FULL));
    assertThat(receipts()).hasSize(1);
  }

  @Test
  void aPartitionThatWaitsHoldsUpNoOther() {
    limit(1);
    List<PositionAdvance> positions =
        List.of(at(shared, null, 2, HOLD_FOR_LEDGER), at(own, null, 1, REJECT));
    Admission.Decided decided =
        (Admission.Decided)
            ingest.admit(
                new AdmissionBatch(
                    positions,
                    List.of(
                        request("a").build(),
                        request("b").offset(1).build(),
                        onSecond(request("c").build()))));
    assertThat(decisions(decided)).containsExactly(ACCEPTED, GLOBAL_FULL);
    assertThat(decided.held()).containsExactly(new Admission.Decided.Held(0, 1, GLOBAL_FULL));
    assertThat(ingest.positions(List.of(shared, own)))
        .containsEntry(shared, 1L)
        .containsEntry(own, 1L);
  }

  @Test
  void onlyATenantsOwnTopicWaitsForItsTenant() {
    operator.setTenant("acme", 1, 1_000_000, 1, "test");
    db.submit(ingest, request("first").build());
    assertThat(decisions(admit(at(shared, null, 1, HOLD_FOR_LEDGER), "a")))
        .containsExactly(TENANT_FULL);
    assertThat(admit(at(own, null, 1, HOLD_FOR_TENANT), "a").held())
        .containsExactly(new Admission.Decided.Held(0, 0, TENANT_FULL));
  }

  @Test
  void whatCouldNeverFitIsRefusedAlsoWhereOthersWait() {
    operator.setLimits(10, 3, "test");
    Admission.Decided decided =
        (Admission.Decided)
            ingest.admit(
                new AdmissionBatch(
                    List.of(at(shared, null, 2, HOLD_FOR_LEDGER)),
                    List.of(
                        request("huge").value("1234").build(),
                        request("small").value("12").offset(1).build())));
    assertThat(decisions(decided)).containsExactly(GLOBAL_FULL, ACCEPTED);
    assertThat(decided.held()).isEmpty();
  }

  @Test
  void whatItsTenantCouldNeverHoldIsRefusedOnTheTenantsOwnTopicToo() {
    operator.setTenant("acme", 10, 3, 1, "test");
    Admission.Decided decided =
        (Admission.Decided)
            ingest.admit(
                new AdmissionBatch(
                    List.of(at(own, null, 2, HOLD_FOR_TENANT)),
                    List.of(
                        request("huge").value("1234").build(),
                        request("small").value("12").offset(1).build())));
    assertThat(decisions(decided)).containsExactly(TENANT_FULL, ACCEPTED);
    assertThat(decided.held()).isEmpty();
  }

  @Test
  void aRefusalSaysWhenToComeBackFromHowFastSeatsComeBack() {
    operator.setTenant("acme", 0, 1_000_000, 1, "test");
    db.submit(ingest, request("a").build());
    assertThat(lastRetryAfter())
        .as("nothing was ever released: the longest wait")
        .isBetween(Duration.ofSeconds(60), Duration.ofSeconds(90));

    // a hundred a second, for long
    db.execute("update escapement.budget set drain_rate = 100, drained_at = now()");
    Submission.Request[] many = new Submission.Request[500];
    for (int i = 0; i < many.length; i++) {
      many[i] = request("m" + i).offset(i).build();
    }
    db.submit(ingest, many);
    assertThat(lastRetryAfter())
        .as("the last of 500 at about 100 a second, and up to half as long again")
        .isBetween(Duration.ofMillis(4_500), Duration.ofMillis(8_500));
    assertThat(receipts().get(receipts().size() - 500).retryAfter())
        .as("the first of them")
        .isBetween(Duration.ofMillis(200), Duration.ofMillis(300));
    assertThat(receipts().stream().map(OutboxEvent.Receipt::retryAfter).distinct().count())
        .as("not all at the same moment")
        .isGreaterThan(100);
  }

  @Test
  void whatIsReleasedIsMeasured() {
    db.submit(ingest, request("a").build(), request("b").offset(1).build());
    operator.cancel("/test", "a", false, "test");
    operator.cancel("/test", "b", false, "test");
    assertThat(db.connect(Role.DISPATCHER).fold()).isTrue();
    assertThat(
            db.column(
                "select round(drain_rate::numeric, 1) from escapement.budget order by tenant"))
        .as("two in ten seconds, of the ledger and of its tenant")
        .containsExactly("0.2", "0.2");
  }

  @Test
  void anAdmissionThatLooksLastIsUndoneWhereItDoesNotFit() throws Exception {
    limit(1);
    try (Connection connection = db.connection();
        Statement sql = connection.createStatement()) {
      assertThatThrownBy(() -> sql.execute(optimistic("'a', 'b'")))
          .hasMessageContaining("does not fit");
      assertThat(db.number("select count(*) from escapement.intent")).isZero();
      assertThatThrownBy(() -> sql.execute(optimistic("'a'")))
          .as("its tenant has no budget yet")
          .hasMessageContaining("does not fit");
      operator.setTenant("acme", 0, 1_000_000, 1, "test");
      assertThatThrownBy(() -> sql.execute(optimistic("'a'")))
          .as("its tenant's budget is full")
          .hasMessageContaining("does not fit");
      operator.setTenant("acme", 5, 1_000_000, 1, "test");
      sql.execute(optimistic("'a'"));
      assertThat(db.number("select count(*) from escapement.task")).isEqualTo(1);
      assertThat(db.column("select used_tasks from escapement.budgets")).containsExactly("1", "1");
    }
  }

  @Test
  void anOperatorSaysWhereAPartitionGoesOn() {
    admit(at(shared, null, 2, REJECT), "a", "b");
    assertThat(operator.movePosition(shared, 5, 9, "retention overtook us"))
        .isEqualTo(PositionMoved.STALE);
    assertThat(operator.movePosition(own, 0, 9, "no such")).isEqualTo(PositionMoved.NOT_FOUND);
    assertThat(operator.movePosition(shared, 2, 9, "retention overtook us"))
        .isEqualTo(PositionMoved.MOVED);
    assertThat(ingest.positions(List.of(shared))).containsEntry(shared, 9L);
    assertThat(
            db.column(
                "select result || ': ' || reason from escapement.operator_action"
                    + " where action = 'move_position' order by id"))
        .containsExactly(
            "STALE: retention overtook us", "NOT_FOUND: no such", "MOVED: retention overtook us");
    assertThat(
            ingest.admit(
                new AdmissionBatch(
                    List.of(at(shared, 2L, 3, REJECT)), List.of(request("c").offset(2).build()))))
        .as("who does not know of it is fenced")
        .isInstanceOf(Admission.Fenced.class);
  }

  private static String optimistic(String ids) {
    return """
        select escapement.admit('{}', '{}', '{}', '{}', '{}',
          array_fill(null::int, d), array_fill(null::bigint, d), array_fill(null::text, d),
          array_fill(null::text, d), array_fill('/o'::text, d), ids, array_fill('acme'::text, d),
          array_fill('work'::text, d), array_fill(null::text, d),
          array_fill((extract(epoch from now()) * 1000000)::bigint, d),
          array_fill(null::bigint, d), array_fill(null::bigint, d), array_fill(null::int, d),
          array_fill(null::text, d), array_fill('x'::bytea, d), array_fill(null::bytea, d),
          null, true)
        from (select array[IDS]::text[] as ids) i,
          lateral (select array[cardinality(ids)] as d) n"""
        .replace("IDS", ids);
  }

  private void limit(long tasks) {
    operator.setLimits(tasks, 1_000_000, "test");
  }

  private static PositionAdvance at(
      PartitionKey key, @Nullable Long expected, long next, WhenFull policy) {
    return new PositionAdvance(key, expected, next, policy);
  }

  private Admission.Decided admit(PositionAdvance position, String... ids) {
    List<Submission> submissions = new ArrayList<>();
    for (String id : ids) {
      submissions.add(request(id).offset(submissions.size()).build());
    }
    return (Admission.Decided)
        ingest.admit(new AdmissionBatch(List.of(position), List.copyOf(submissions)));
  }

  private static Submission.Request onSecond(Submission.Request r) {
    return new Submission.Request(
        1,
        r.offset(),
        r.namespace(),
        r.id(),
        r.tenant(),
        r.kind(),
        r.subject(),
        r.issuedAt(),
        r.dueAt(),
        r.expiresAt(),
        r.maxAttempts(),
        r.contentType(),
        r.value(),
        r.envelope());
  }

  private static List<Decision> decisions(Admission.Decided decided) {
    return decided.decisions().stream().map(Admission.Decided.One::decision).toList();
  }

  private @Nullable Duration lastRetryAfter() {
    return receipts().getLast().retryAfter();
  }

  private List<OutboxEvent.Receipt> receipts() {
    return db.events().stream()
        .filter(OutboxEvent.Receipt.class::isInstance)
        .map(OutboxEvent.Receipt.class::cast)
        .toList();
  }
}
