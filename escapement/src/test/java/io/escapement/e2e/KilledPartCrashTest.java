package io.escapement.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.escapement.e2e.Pipeline.Event;
import io.escapement.ledger.KindDefinition;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code kill -9} of each part: no promise is lost, none is kept twice. */
class KilledPartCrashTest {

  private static final String INVOICE = "demo.invoice.issue";
  private static final int RECORDS = 3_000;

  @TempDir private static Path scratch;
  private static TestServers servers;

  @BeforeAll
  static void startServers() throws Exception {
    servers = TestServers.start(scratch);
  }

  @AfterAll
  static void stopServers() throws Exception {
    CloseAll.of(servers);
  }

  @Test
  void aTaskThatAKilledDispatcherHeldIsDoneByTheNextOne() throws Exception {
    try (Pipeline pipeline = Pipeline.create(servers, "killed_dispatcher", scratch)) {
      pipeline.operate(
          ledger ->
              ledger.defineKind(
                  KindDefinition.local(StuckHandler.KIND).withLease(Duration.ofSeconds(2)),
                  "test"));
      Path begun = scratch.resolve("begun");
      Event stuck = Event.of("stuck", "north", StuckHandler.KIND).about(begun.toString());
      try (PartProcess relay = pipeline.relay();
          PartProcess ingest = pipeline.ingest()) {
        try (PartProcess dispatcher = pipeline.dispatcher()) {
          assertThat(pipeline.awaitDecisions(pipeline.send(stuck))).containsExactly("accepted");
          await().atMost(Pipeline.LIMIT).until(() -> Files.exists(begun));
          assertThat(pipeline.text("select state from escapement.task")).isEqualTo("CLAIMED");
          dispatcher.kill();
        }
        assertThat(pipeline.text("select state from escapement.task")).isEqualTo("CLAIMED");
        try (PartProcess next = pipeline.dispatcher()) {
          pipeline.awaitNumber("select count(*) from escapement.task where state = 'DONE'", 1);
          assertThat(next.stop().exit()).isZero();
        }
        assertThat(ingest.stop().exit()).isZero();
        assertThat(relay.stop().exit()).isZero();
      }
      assertThat(
              pipeline.text(
                  "select string_agg(outcome, ',' order by number) from escapement.attempt"))
          .isEqualTo("LEASE_EXPIRED,COMPLETED");
      assertThat(pipeline.text("select convert_from(bytes, 'UTF8') from escapement.effect"))
          .isEqualTo("attempt 2");
      assertThat(pipeline.changes(stuck)).containsExactly("done");
      pipeline.assertAuditFindsNothing();
    }
  }

  /**
   * Kafka's committed offset is put back to the start after the kill: what a kill between the
   * ledger's commit and Kafka's leaves behind, for every batch at once.
   */
  @Test
  void whatAKilledIngestHadDecidedIsNotDecidedAgain() throws Exception {
    try (Pipeline pipeline = Pipeline.create(servers, "killed_ingest", scratch)) {
      pipeline.operate(ledger -> ledger.defineKind(KindDefinition.local(INVOICE), "test"));
      try (PartProcess relay = pipeline.relay()) {
        List<RecordMetadata> sent;
        try (PartProcess ingest = pipeline.ingest()) {
          sent = pipeline.send(events(0, RECORDS));
          await()
              .atMost(Pipeline.LIMIT)
              .until(() -> pipeline.number("select count(*) from escapement.intent") > 0);
          ingest.kill();
        }
        long decidedBefore = pipeline.number("select count(*) from escapement.intent");
        forgetCommittedOffsets(pipeline, sent);
        sent = new ArrayList<>(sent);
        sent.addAll(pipeline.send(events(RECORDS, 10)));
        try (PartProcess next = pipeline.ingest()) {
          List<String> decisions = pipeline.awaitDecisions(sent);
          assertThat(decisions).hasSize(RECORDS + 10).containsOnly("accepted");
          assertThat(next.stop().exit()).isZero();
        }
        assertThat(decidedBefore).isPositive();
        assertThat(pipeline.number("select count(*) from escapement.intent"))
            .isEqualTo(RECORDS + 10);
        assertThat(pipeline.read(pipeline.topics().receipts())).hasSize(RECORDS + 10);
        assertThat(relay.stop().exit()).isZero();
      }
      pipeline.assertAuditFindsNothing();
    }
  }

  @Test
  void whatAKilledRelayHadSentIsNotToldTwice() throws Exception {
    try (Pipeline pipeline = Pipeline.create(servers, "killed_relay", scratch)) {
      pipeline.operate(ledger -> ledger.defineKind(KindDefinition.local(INVOICE), "test"));
      try (PartProcess ingest = pipeline.ingest()) {
        List<RecordMetadata> sent;
        try (PartProcess relay = pipeline.relay()) {
          sent = new ArrayList<>(pipeline.send(events(0, 10)));
          pipeline.awaitDecisions(sent);
          sent.addAll(pipeline.send(events(10, RECORDS)));
          await()
              .atMost(Pipeline.LIMIT)
              .until(() -> pipeline.read(pipeline.topics().receipts()).size() > 10);
          relay.kill();
        }
        try (PartProcess next = pipeline.relay()) {
          assertThat(pipeline.awaitDecisions(sent)).containsOnly("accepted");
          assertThat(next.stop().exit()).isZero();
        }
        assertThat(pipeline.read(pipeline.topics().receipts())).hasSize(RECORDS + 10);
        assertThat(ingest.stop().exit()).isZero();
      }
      pipeline.assertAuditFindsNothing();
    }
  }

  private static List<Event> events(int from, int count) {
    List<Event> events = new ArrayList<>();
    for (int n = from; n < from + count; n++) {
      events.add(Event.of("n-" + n, "north", INVOICE).with("\"delayms\":3600000"));
    }
    return events;
  }

  private static void forgetCommittedOffsets(Pipeline pipeline, List<RecordMetadata> sent)
      throws Exception {
    Map<TopicPartition, OffsetAndMetadata> start = new HashMap<>();
    for (RecordMetadata record : sent) {
      start.put(new TopicPartition(record.topic(), record.partition()), new OffsetAndMetadata(0L));
    }
    String group = pipeline.topics().prefix() + "-ingest";
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers.bootstrapServers()))) {
      // Kafka refuses while it still believes that the killed member is there.
      await()
          .atMost(Pipeline.LIMIT)
          .ignoreExceptions()
          .until(
              () -> {
                admin.alterConsumerGroupOffsets(group, start).all().get();
                return true;
              });
    }
  }
}
