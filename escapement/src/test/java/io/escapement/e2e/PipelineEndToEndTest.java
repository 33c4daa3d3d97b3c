package io.escapement.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.escapement.e2e.Pipeline.Event;
import io.escapement.ledger.KindDefinition;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From a CloudEvent on Kafka to one effect in PostgreSQL: each part in a process of its own. */
class PipelineEndToEndTest {

  private static final String REMINDER = "demo.reminder.send";
  private static final String INVOICE = "demo.invoice.issue";
  private static final String BOOKING = "demo.booking.close";

  @TempDir private static Path scratch;
  private static TestServers servers;
  private static Pipeline pipeline;
  private static PartProcess relay;
  private static PartProcess dispatcher;
  private static PartProcess ingest;

  @BeforeAll
  static void startEverything() throws Exception {
    servers = TestServers.start(scratch);
    pipeline = Pipeline.create(servers, "pipeline", scratch);
    pipeline.execute(Files.readString(Path.of("src/main/resources/io/escapement/demo/demo.sql")));
    pipeline.operate(
        ledger -> {
          for (String kind : List.of(REMINDER, INVOICE, BOOKING)) {
            ledger.defineKind(
                KindDefinition.local(kind)
                    .withBackoff(Duration.ofMillis(100), Duration.ofSeconds(1), 0),
                "test");
          }
        });
    relay = pipeline.relay();
    dispatcher = pipeline.dispatcher();
    ingest = pipeline.ingest();
  }

  @AfterAll
  static void stopEverything() throws Exception {
    CloseAll.of(ingest, dispatcher, relay, pipeline, servers);
  }

  @AfterEach
  void theLedgerIsSound() throws Exception {
    pipeline.assertAuditFindsNothing();
  }

  @Test
  void anAcceptedRequestIsDoneOnceWithItsEffectAndTold() throws Exception {
    Event invoice = Event.of("happy-invoice", "north", INVOICE).with("\"data\":{\"number\":1}");
    Event booking = Event.of("happy-booking", "north", BOOKING).with("\"data\":{\"number\":77}");

    List<RecordMetadata> sent = pipeline.send(invoice, booking);

    assertThat(pipeline.awaitDecisions(sent)).containsOnly("accepted");
    awaitDone(invoice);
    awaitDone(booking);
    assertThat(pipeline.text(effectOf(invoice))).isEqualTo("{\"number\":1}");
    assertThat(
            pipeline.number(
                "select count(*) from demo.closed_booking where booking = 77 and tenant = 'north'"))
        .isEqualTo(1);
    await()
        .atMost(Pipeline.LIMIT)
        .untilAsserted(
            () -> {
              assertThat(pipeline.changes(invoice)).containsExactly("done");
              assertThat(pipeline.changes(booking)).containsExactly("done");
            });
  }

  @Test
  void anAttemptThatFailsIsTriedAgain() throws Exception {
    Event reminder = Event.of(idThatFailsFirst(), "north", REMINDER);
    pipeline.send(reminder);
    awaitDone(reminder);
    assertThat(
            pipeline.text(
                "select string_agg(outcome, ',' order by number) from escapement.attempt"
                    + " join escapement.intent on first_task = task_id where "
                    + is(reminder)))
        .isEqualTo("FAILED,COMPLETED");
  }

  @Test
  void aRepeatedRequestIsAReplayAndAContradictingOneAConflict() throws Exception {
    Event first = Event.of("twice", "south", INVOICE).with("\"data\":\"one\"");
    Event other = Event.of("twice", "south", INVOICE).with("\"data\":\"other\"");

    List<RecordMetadata> sent = pipeline.send(first, first, other, first);

    assertThat(pipeline.awaitDecisions(sent))
        .containsExactly("accepted", "replay", "conflict", "replay");
    awaitDone(first);
    assertThat(pipeline.text(effectOf(first))).isEqualTo("one");
    assertThat(pipeline.number("select count(*) from escapement.intent where event_id = 'twice'"))
        .isEqualTo(1);
  }

  @Test
  void whatTheBudgetCannotHoldIsRefusedAndLeavesNothingBehind() throws Exception {
    pipeline.operate(ledger -> ledger.setTenant("tight", 3, 1_000_000, 1, "test"));
    List<Event> events = new ArrayList<>();
    for (int n = 0; n < 8; n++) {
      events.add(Event.of("tight-" + n, "tight", INVOICE).with("\"delayms\":3600000"));
    }

    List<String> decisions = pipeline.awaitDecisions(pipeline.send(events));

    assertThat(decisions).filteredOn("accepted"::equals).hasSize(3);
    assertThat(decisions).filteredOn("tenant_full"::equals).hasSize(5);
    assertThat(pipeline.number("select count(*) from escapement.intent where tenant = 'tight'"))
        .isEqualTo(3);
    assertThat(pipeline.number("select used_tasks from escapement.budgets where tenant = 'tight'"))
        .isEqualTo(3);
  }

  @Test
  void aDelayedTaskIsNotClaimedBeforeItsTime() throws Exception {
    List<Event> events = new ArrayList<>();
    for (int n = 0; n < 20; n++) {
      events.add(Event.of("later-" + n, "east", INVOICE).with("\"delayms\":" + (500 + n * 100)));
    }

    List<RecordMetadata> sent = pipeline.send(events);

    assertThat(pipeline.awaitDecisions(sent)).containsOnly("accepted");
    for (Event event : events) {
      awaitDone(event);
    }
    String attempts =
        " from escapement.attempt join escapement.intent on first_task = task_id"
            + " where event_id like 'later-%'";
    assertThat(pipeline.number("select count(*)" + attempts)).isEqualTo(20);
    assertThat(pipeline.number("select count(*)" + attempts + " and claimed_at < due_at")).isZero();
    // What was asked for is what the ledger went by.
    assertThat(
            pipeline.number(
                "select count(*)"
                    + attempts
                    + " and due_at <> issued_at + interval '500 ms' + interval '100 ms'"
                    + " * split_part(event_id, '-', 2)::int"))
        .isZero();
  }

  @Test
  void aRecordThatIsNoRequestIsAnsweredAndLaidAside() throws Exception {
    Event unheardOf = Event.of("unheard", "east", "test.unheard-of");
    assertThat(pipeline.awaitDecisions(pipeline.send(unheardOf))).containsExactly("invalid");
    await()
        .atMost(Pipeline.LIMIT)
        .untilAsserted(
            () ->
                assertThat(pipeline.read(pipeline.topics().deadLetters()))
                    .anySatisfy(
                        letter -> assertThat(letter.get("id").asText()).isEqualTo("unheard")));
  }

  @Test
  void commandsThroughTheirTopicAreExecutedAndAnswered() throws Exception {
    Event held = Event.of("held", "paused-tenant", INVOICE);
    RecordMetadata pause =
        pipeline.command("c-1", "pause", "{\"scope\":\"tenant\",\"name\":\"paused-tenant\"}");
    assertThat(pipeline.awaitDecisions(List.of(pause))).containsExactly("executed");
    assertThat(pipeline.awaitDecisions(pipeline.send(held))).containsExactly("accepted");

    RecordMetadata cancel =
        pipeline.command("c-2", "cancel", "{\"namespace\":\"/e2e\",\"event_id\":\"held\"}");
    RecordMetadata wrong = pipeline.command("c-3", "cancel", "{\"event_id\":\"held\"}");
    RecordMetadata again =
        pipeline.command("c-2", "cancel", "{\"namespace\":\"/e2e\",\"event_id\":\"held\"}");
    RecordMetadata resume =
        pipeline.command("c-4", "resume", "{\"scope\":\"tenant\",\"name\":\"paused-tenant\"}");

    assertThat(pipeline.awaitDecisions(List.of(cancel, wrong, again, resume)))
        .containsExactly("executed", "invalid", "replay", "executed");
    List<JsonNode> receipts = new ArrayList<>(pipeline.read(pipeline.topics().receipts()));
    receipts.removeIf(r -> !r.path("command").asText().equals("cancel"));
    assertThat(receipts).hasSize(3);
    for (JsonNode receipt : receipts) {
      assertThat(receipt.get("source").asText()).isEqualTo("/operators/e2e");
      if (receipt.get("decision").asText().equals("invalid")) {
        assertThat(receipt.get("reason").asText()).isEqualTo("namespace: missing");
      } else {
        assertThat(receipt.get("results").get(0).get("result").asText())
            .isEqualTo("CANCELLED_UNSTARTED");
      }
    }
    await()
        .atMost(Pipeline.LIMIT)
        .untilAsserted(() -> assertThat(pipeline.changes(held)).containsExactly("cancelled"));
    assertThat(
            pipeline.text("select distinct who from escapement.actions where event_id is not null"))
        .isEqualTo("/operators/e2e (unauthenticated)");
  }

  @Test
  void withoutARelayWorkGoesOnAndWithOneAgainEverythingIsToldOnce() throws Exception {
    assertThat(relay.stop().exit()).isZero();
    Event silent = Event.of("silent", "east", INVOICE);

    List<RecordMetadata> sent = pipeline.send(silent);

    awaitDone(silent);
    assertThat(pipeline.decisions(sent)).containsExactly(List.of());
    relay = pipeline.relay();
    assertThat(pipeline.awaitDecisions(sent)).containsExactly("accepted");
    await()
        .atMost(Pipeline.LIMIT)
        .untilAsserted(() -> assertThat(pipeline.changes(silent)).containsExactly("done"));
  }

  private static void awaitDone(Event event) {
    pipeline.awaitNumber(
        "select count(*) from escapement.task join escapement.intent i on i.id = intent_id"
            + " where state = 'DONE' and "
            + is(event),
        1);
  }

  private static String effectOf(Event event) {
    return "select convert_from(bytes, 'UTF8') from escapement.effect"
        + " join escapement.intent on first_task = task_id where "
        + is(event);
  }

  private static String is(Event event) {
    return "namespace = '/e2e' and event_id = '" + event.id() + "'";
  }

  /** The handler fails the first attempt at every tenth event, by its id. */
  private static String idThatFailsFirst() {
    int n = 0;
    while (Math.floorMod(("fails-" + n).hashCode(), 10) != 0) {
      n++;
    }
    return "fails-" + n;
  }
}
