package io.escapement.ledger;

import static io.escapement.ledger.Decision.ACCEPTED;
import static io.escapement.ledger.Decision.CONFLICT;
import static io.escapement.ledger.Decision.GLOBAL_FULL;
import static io.escapement.ledger.Decision.INVALID;
import static io.escapement.ledger.Decision.OVERSIZE;
import static io.escapement.ledger.Decision.REPLAY;
import static io.escapement.ledger.Decision.TENANT_FULL;
import static io.escapement.ledger.Decision.TOO_OLD;
import static io.escapement.ledger.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AdmissionPostgresTest {

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
  void anAcceptedRequestIsOneIntentOneTaskOneSeatOneReceiptAndOneHint() {
    assertThat(db.submit(ingest, request("a").value("123").build())).containsExactly(ACCEPTED);

    assertThat(db.column("select state from escapement.task")).containsExactly("SCHEDULED");
    assertThat(db.column("select used_tasks || ',' || used_bytes from escapement.budgets"))
        .containsExactly("1,3", "1,3");
    List<OutboxEvent> events = outbox();
    assertThat(events).hasSize(2);
    assertThat(events.get(0))
        .isInstanceOfSatisfying(
            OutboxEvent.Receipt.class,
            r -> {
              assertThat(r.decision()).isEqualTo(ACCEPTED);
              assertThat(r.id()).isEqualTo("a");
              assertThat(r.tasks()).singleElement().extracting("state").isEqualTo("SCHEDULED");
            });
    assertThat(events.get(1)).isInstanceOf(OutboxEvent.Hint.class);
  }

  @Test
  void theSameRequestIsAReplayAndAnyDifferenceAConflict() {
    assertThat(
            db.submit(
                ingest,
                request("a").build(),
                request("a").build(),
                request("a").value("{ }").build(),
                request("a").tenant("other").build(),
                request("a").subject("s").build()))
        .containsExactly(ACCEPTED, REPLAY, CONFLICT, CONFLICT, CONFLICT);
    assertThat(db.submit(ingest, request("a").build(), request("a").value("other").build()))
        .containsExactly(REPLAY, CONFLICT);
    assertThat(db.number("select count(*) from escapement.task")).isEqualTo(1);
  }

  @Test
  void aKnownIdentityIsAnsweredEvenWhenEveryBudgetIsFullAndWhenItIsOld() {
    operator.setLimits(1, 100, "test");
    assertThat(db.submit(ingest, request("a").build(), request("b").build()))
        .containsExactly(ACCEPTED, GLOBAL_FULL);
    Instant longAgo = Instant.now().minus(Duration.ofDays(30));
    assertThat(
            db.submit(
                ingest,
                request("a").build(),
                request("a").issuedAt(longAgo).build(),
                request("a").value("x").build(),
                request("c").issuedAt(longAgo).build()))
        .containsExactly(REPLAY, REPLAY, CONFLICT, TOO_OLD);
  }

  @Test
  void aRefusalBindsNothing() {
    operator.setTenant("acme", 1, 1_000, 1, "test");
    assertThat(db.submit(ingest, request("a").build(), request("b").build()))
        .containsExactly(ACCEPTED, TENANT_FULL);
    assertThat(db.number("select count(*) from escapement.intent")).isEqualTo(1);
    operator.setTenant("acme", 2, 1_000, 1, "test");
    assertThat(db.submit(ingest, request("b").value("another body").build()))
        .containsExactly(ACCEPTED);
  }

  @Test
  void inOneBatchALaterRecordMayTakeTheIdentityThatAnEarlierOneWasRefused() {
    operator.setTenant("acme", 10, 20, 1, "test");
    assertThat(
            db.submit(
                ingest,
                request("big").value("x".repeat(21)).build(),
                request("big").value("small").build(),
                request("big").value("small").build(),
                request("big").value("x".repeat(21)).build()))
        .containsExactly(TENANT_FULL, ACCEPTED, REPLAY, CONFLICT);
    assertThat(db.column("select convert_from(value, 'UTF8') from escapement.intent"))
        .containsExactly("small");
  }

  @Test
  void budgetsAreServedInOffsetOrderAndCountBytes() {
    operator.setTenant("acme", 10, 128, 1, "test");
    assertThat(
            db.submit(
                ingest,
                request("a").value("x".repeat(90)).build(),
                request("b").value("x".repeat(39)).build(),
                request("c").value("x".repeat(38)).build()))
        .containsExactly(ACCEPTED, TENANT_FULL, ACCEPTED);
    operator.setLimits(100, 256, "test");
    assertThat(
            db.submit(
                ingest,
                request("d").tenant("b").value("x".repeat(128)).build(),
                request("e").tenant("b").value("x").build()))
        .containsExactly(ACCEPTED, GLOBAL_FULL);
  }

  @Test
  void aReleaseSlipIsSeenBeforeAnythingIsRefusedAsFull() {
    operator.setLimits(1, 100, "test");
    assertThat(db.submit(ingest, request("a").build())).containsExactly(ACCEPTED);
    assertThat(operator.cancel("/test", "a", false, "test"))
        .extracting(CancelAnswer::result)
        .containsExactly(CancelAnswer.Result.CANCELLED_UNSTARTED);
    assertThat(db.number("select count(*) from escapement.release_slip")).isEqualTo(1);
    assertThat(db.submit(ingest, request("b").build())).containsExactly(ACCEPTED);
    assertThat(db.number("select count(*) from escapement.release_slip")).isZero();
  }

  @Test
  void whatCannotBeARequestIsInvalidAndGoesToTheDeadLetters() {
    Instant now = Instant.now();
    assertThat(
            db.submit(
                ingest,
                request("a").kind("nobody-defined-this").build(),
                request("b").issuedAt(now.plus(Duration.ofMinutes(6))).build(),
                request("c").issuedAt(now).expiresAt(now).build(),
                request("d").value("x".repeat(300_000)).build(),
                request("e").build()))
        .containsExactly(INVALID, INVALID, INVALID, OVERSIZE, ACCEPTED);
    assertThat(outbox().stream().filter(e -> e instanceof OutboxEvent.DeadLetter).toList())
        .hasSize(3)
        .first()
        .isInstanceOfSatisfying(
            OutboxEvent.DeadLetter.class,
            x -> {
              assertThat(x.value())
                  .isEqualTo("{}".getBytes(java.nio.charset.StandardCharsets.UTF_8));
              assertThat(x.reason()).contains("type");
            });
  }

  @Test
  void aPositionThatSomebodyElseMovedFencesTheWholeBatch() {
    PartitionKey mine = new PartitionKey("requests", UUID.randomUUID(), 0);
    PartitionKey stolen = new PartitionKey("requests", UUID.randomUUID(), 1);
    ingest.admit(new AdmissionBatch(List.of(new PositionAdvance(stolen, null, 5)), List.of()));

    AdmissionBatch zombie =
        new AdmissionBatch(
            List.of(new PositionAdvance(mine, null, 1), new PositionAdvance(stolen, 3L, 6)),
            List.of(request("a").build()));
    assertThat(ingest.admit(zombie))
        .isInstanceOfSatisfying(
            Admission.Fenced.class, f -> assertThat(f.partitions()).containsExactly(stolen));

    assertThat(db.number("select count(*) from escapement.intent")).isZero();
    assertThat(ingest.positions(List.of(mine, stolen))).containsOnlyKeys(stolen);
    assertThat(ingest.positions(List.of(stolen))).containsEntry(stolen, 5L);
  }

  @Test
  void theDoorRefusesADecisionAndAPositionThatCannotBe() {
    PartitionKey partition = new PartitionKey("requests", UUID.randomUUID(), 0);
    assertThatThrownBy(() -> db.submit(ingest, request("a").maxAttempts(0).build()))
        .isInstanceOf(LedgerException.class)
        .hasMessageContaining("can't be");
    assertThatThrownBy(
            () ->
                db.column(
                    "select decision from escapement.admit(array['t'], array['"
                        + partition.topicId()
                        + "'::uuid], array[0], array[null::bigint], array[1::bigint], array[1],"
                        + " array[0::bigint], array['accepted'], array[null::text],"
                        + " array[null::text], array[null::text], array[null::text],"
                        + " array[null::text], array[null::text], array[null::bigint],"
                        + " array[null::bigint], array[null::bigint], array[null::int],"
                        + " array[null::text], array[null::bytea], array[null::bytea])"))
        .hasStackTraceContaining("can't be");
    assertThat(ingest.positions(List.of(partition))).isEmpty();
  }

  @Test
  void unknownTenantsAreBounded() {
    db.execute("update escapement.ledger set max_tenants = 2");
    assertThat(
            db.submit(
                ingest, request("a").tenant("one").build(), request("b").tenant("two").build()))
        .containsExactly(ACCEPTED, ACCEPTED);
    assertThat(
            db.submit(
                ingest, request("c").tenant("three").build(), request("d").tenant("two").build()))
        .containsExactly(INVALID, ACCEPTED);
    db.execute("update escapement.ledger set default_tenant_tasks = null");
    assertThat(db.submit(ingest, request("e").tenant("four").build())).containsExactly(INVALID);
  }

  private List<OutboxEvent> outbox() {
    List<OutboxEvent> events = new ArrayList<>();
    for (String row : db.column("select events from escapement.outbox order by id")) {
      events.addAll(OutboxRow.parse(row));
    }
    return events;
  }
}
