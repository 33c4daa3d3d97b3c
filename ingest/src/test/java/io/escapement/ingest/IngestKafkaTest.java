package io.escapement.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.escapement.ledger.Decision;
import io.escapement.ledger.OutboxEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class IngestKafkaTest {

  private final IngestFixture fixture = new IngestFixture(3);

  @BeforeAll
  static void beGenerous() {
    Awaitility.setDefaultTimeout(Duration.ofSeconds(60));
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void everyRecordOfEveryTopicIsDecidedOnceAndLagToolsSeeIt() {
    String own = fixture.topic() + ".umbrella";
    fixture.createTopic(own, 1);
    for (int partition = 0; partition < 3; partition++) {
      fixture.produce(partition, fixture.requests(partition * 1_000, 250));
    }
    fixture.produce(
        0,
        RecordBuilder.structured(RecordBuilder.json()).topic(fixture.topic()),
        RecordBuilder.binary().topic(own).with("ce_id", "own").without("ce_tenant"),
        fixture.request("r-0"),
        fixture.request("r-1").value(RecordBuilder.bytes("different")));
    IngestAssembly ingest = fixture.ingest();
    await().until(() -> ingest.stats().snapshot().decided() == 754);
    Map<String, Long> decisions = ingest.stats().snapshot().decisions();
    assertThat(decisions)
        .containsEntry("accepted", 752L)
        .containsEntry("replay", 1L)
        .containsEntry("conflict", 1L);
    assertThat(fixture.decisionsByRecord())
        .hasSize(754)
        .allSatisfy((r, n) -> assertThat(n).isOne());
    assertThat(fixture.intents()).isEqualTo(752);
    assertThat(
            fixture
                .database()
                .column("select tenant from escapement.intent where event_id = 'own'"))
        .containsExactly("umbrella");
    await().until(() -> fixture.committed(0) == 253 && fixture.committed(2) == 250);
    assertThat(ingest.health().state()).isEqualTo(IngestHealth.State.RUNNING);
    assertThat(ingest.health().partitions()).isEqualTo(4);
  }

  @Test
  void aRestartedIngestGoesOnWhereTheLedgerSays() {
    fixture.produce(0, fixture.requests(0, 10));
    IngestAssembly first = fixture.ingest();
    await().until(() -> first.stats().snapshot().decided() == 10);
    first.close();
    assertThat(first.health().state()).isEqualTo(IngestHealth.State.CLOSED);
    fixture.produce(0, fixture.requests(10, 5));
    // Lag tools are not asked: whatever they were made to say, the ledger decides.
    IngestFixture.get(
        () -> fixture.admin().deleteConsumerGroups(List.of(fixture.group())).all().get());
    IngestAssembly second = fixture.ingest();
    await().until(() -> fixture.receipts().size() >= 15);
    assertThat(second.stats().snapshot().decided()).isEqualTo(5);
    assertThat(fixture.decisionsByRecord()).hasSize(15).allSatisfy((r, n) -> assertThat(n).isOne());
  }

  @Test
  void aTenantsNewTopicIsFound() {
    IngestAssembly ingest = fixture.ingest();
    await().until(() -> ingest.health().partitions() == 3);
    String own = fixture.topic() + ".late";
    fixture.createTopic(own, 1);
    fixture.createTopic(fixture.topic() + "-not", 1);
    fixture.produce(0, RecordBuilder.binary().topic(own).without("ce_tenant"));
    await().until(() -> ingest.stats().snapshot().decided() == 1);
    assertThat(fixture.receipts().getFirst().tenant()).isEqualTo("late");
    assertThat(ingest.health().partitions()).isEqualTo(4);
  }

  @Test
  void brokenRecordsBetweenGoodOnesAreRefusedAlone() {
    long seed = Long.getLong("seed", System.nanoTime());
    HostileRecords hostile = new HostileRecords(seed);
    List<RecordBuilder> records = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      records.add(hostile.next(i).topic(fixture.topic()));
      records.add(fixture.request("good-" + i));
    }
    fixture.produce(1, records.toArray(RecordBuilder[]::new));
    IngestAssembly ingest = fixture.ingest();
    await().until(() -> ingest.stats().snapshot().decided() == 800);
    Map<String, Decision> decisions = fixture.decisionsById();
    for (int i = 0; i < 400; i++) {
      assertThat(decisions.get("good-" + i)).as("seed %d", seed).isEqualTo(Decision.ACCEPTED);
    }
    assertThat(ingest.stats().snapshot().failures()).as("seed %d", seed).isZero();
    assertThat(ingest.stats().snapshot().isolated()).as("seed %d", seed).isZero();
    assertThat(fixture.decisionsByRecord())
        .hasSize(800)
        .allSatisfy((r, n) -> assertThat(n).isOne());
  }

  @Test
  void aRecordTooLargeForTheLedgerIsRefusedBySize() {
    fixture.database().execute("update escapement.ledger set max_payload_bytes = 1024");
    fixture.produce(
        0,
        fixture.request("large").value(new byte[1025]),
        fixture.request("fits").value(new byte[1024]));
    fixture.ingest();
    await().until(() -> fixture.decisionsById().containsKey("fits"));
    assertThat(fixture.decisionsById())
        .containsEntry("large", Decision.OVERSIZE)
        .containsEntry("fits", Decision.ACCEPTED);
  }

  @Test
  void aRecordThatTheLedgerCannotStoreIsRefusedAlone() {
    fixture
        .database()
        .execute(
            """
            alter table escapement.intent
              add constraint no_poison check (event_id not like 'poison%')""");
    fixture.produce(0, fixture.requests(0, 5));
    fixture.produce(0, fixture.request("poison-1"));
    fixture.produce(0, fixture.requests(5, 5));
    fixture.produce(1, fixture.requests(10, 5));
    IngestAssembly ingest = fixture.ingest();
    await().until(() -> ingest.stats().snapshot().decided() == 16);
    assertThat(ingest.stats().snapshot().decisions())
        .containsEntry("accepted", 15L)
        .containsEntry("invalid", 1L);
    assertThat(ingest.stats().snapshot().isolated()).isEqualTo(1);
    OutboxEvent.Receipt refused =
        fixture.receipts().stream()
            .filter(r -> r.decision() == Decision.INVALID)
            .findFirst()
            .orElseThrow();
    assertThat(refused.offset()).isEqualTo(5);
    assertThat(refused.reason()).contains("23514");
    assertThat(refused.id()).isEqualTo("poison-1");
    assertThat(ingest.health().state()).isEqualTo(IngestHealth.State.RUNNING);
  }

  @Test
  void whereNothingCanBeStoredTheLedgerIsAtFaultAndRecordsWait() {
    fixture.database().execute("alter table escapement.task add constraint none check (id < 0)");
    fixture.produce(0, fixture.requests(0, 30));
    IngestAssembly ingest = fixture.ingest();
    await().until(() -> ingest.stats().snapshot().failures() >= 2);
    assertThat(ingest.health().state()).isEqualTo(IngestHealth.State.DEGRADED);
    assertThat(ingest.health().lastError()).contains("violates check constraint \"none\"");
    fixture.database().execute("alter table escapement.task drop constraint none");
    await().until(() -> ingest.stats().snapshot().decided() == 30);
    assertThat(ingest.stats().snapshot().decisions())
        .containsEntry("invalid", 10L)
        .containsEntry("accepted", 20L);
  }

  @Test
  void abortedRecordsAreNotDecidedAndThePositionPassesThem() {
    Map<String, Object> transactional = new HashMap<>(fixture.kafka());
    transactional.put("transactional.id", fixture.topic());
    IngestAssembly ingest = fixture.ingest();
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(transactional, new ByteArraySerializer(), new ByteArraySerializer())) {
      producer.initTransactions();
      producer.beginTransaction();
      Future<RecordMetadata> kept = producer.send(fixture.request("kept").toProduce(0));
      producer.commitTransaction();
      producer.beginTransaction();
      Future<RecordMetadata> aborted = producer.send(fixture.request("aborted").toProduce(0));
      producer.flush();
      producer.abortTransaction();
      assertThat(kept.isDone() && aborted.isDone()).isTrue();
    }
    // kept, its marker, aborted, its marker.
    await()
        .until(
            () ->
                fixture
                    .database()
                    .column("select position from escapement.ingest_position")
                    .contains("4"));
    assertThat(fixture.decisionsById()).containsOnlyKeys("kept");
    assertThat(ingest.health().state()).isEqualTo(IngestHealth.State.RUNNING);
  }
}
