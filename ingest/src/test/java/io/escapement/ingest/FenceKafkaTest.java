package io.escapement.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.escapement.ledger.Role;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** I1: one decision per record, whoever else believes that a partition is his. */
class FenceKafkaTest {

  private final IngestFixture fixture = new IngestFixture(2);

  @BeforeAll
  static void beGenerous() {
    Awaitility.setDefaultTimeout(Duration.ofSeconds(60));
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  /** Holds its consumer's thread between a poll and the decision, until told to go on. */
  private static final class Frozen implements ConsumerLens.Moments {
    final CountDownLatch polled = new CountDownLatch(1);
    final CountDownLatch release = new CountDownLatch(1);

    @Override
    public void polled(ConsumerRecords<?, ?> records) throws InterruptedException {
      polled.countDown();
      release.await();
    }
  }

  @Test
  void aZombieDecidesNothingThatItsSuccessorHasDecided() throws Exception {
    fixture.produce(0, fixture.requests(0, 50));
    fixture.produce(1, fixture.requests(100, 50));
    Frozen frozen = new Frozen();
    IngestAssembly zombie = fixture.ingest(soonThrownOut(), ConsumerLens.of(frozen));
    frozen.polled.await();
    IngestAssembly successor = fixture.ingest();
    await().until(() -> successor.stats().snapshot().decided() == 100);
    frozen.release.countDown();
    await().until(() -> zombie.stats().snapshot().fences() > 0);
    fixture.produce(0, fixture.requests(50, 10));
    fixture.produce(1, fixture.requests(150, 10));
    await().until(() -> fixture.receipts().size() >= 120);
    assertEachDecidedOnce(120);
    assertThat(fixture.intents()).isEqualTo(120);
  }

  @Test
  void withoutTheFenceTheSameZombieDecidesAgain() throws Exception {
    fixture.produce(0, fixture.requests(0, 50));
    Frozen frozen = new Frozen();
    try (UnfencedIngest zombie = unfenced(soonThrownOut(), frozen);
        UnfencedIngest successor = unfenced(fixture.kafka(), new ConsumerLens.Moments() {})) {
      zombie.start();
      frozen.polled.await();
      successor.start();
      await().until(() -> fixture.receipts().size() == 50);
      frozen.release.countDown();
      await().until(() -> fixture.receipts().size() == 100);
    }
    assertThat(fixture.decisionsByRecord())
        .hasSize(50)
        .allSatisfy((r, n) -> assertThat(n).isEqualTo(2));
  }

  @Test
  void partitionsThatMoveBetweenIngestsAreDecidedOnce() {
    IngestAssembly first = fixture.ingest();
    fixture.produce(0, fixture.requests(0, 1_000));
    IngestAssembly second = fixture.ingest();
    fixture.produce(1, fixture.requests(1_000, 1_000));
    await().until(() -> second.health().partitions() == 1 && first.health().partitions() == 1);
    fixture.produce(0, fixture.requests(2_000, 1_000));
    fixture.produce(1, fixture.requests(3_000, 1_000));
    first.close();
    fixture.produce(0, fixture.requests(4_000, 100));
    await().until(() -> fixture.receipts().size() >= 4_100);
    assertEachDecidedOnce(4_100);
    assertThat(second.stats().snapshot().decided() + first.stats().snapshot().decided())
        .isEqualTo(4_100);
  }

  @Test
  void anIngestThatBreaksDownSaysSoAndLeavesItsPartitionsToOthers() {
    AtomicBoolean broken = new AtomicBoolean();
    ConsumerLens.Moments moments =
        new ConsumerLens.Moments() {
          @Override
          public void beforePoll(Consumer<byte[], byte[]> consumer) {
            if (broken.get()) {
              throw new OutOfMemoryError("not really");
            }
          }
        };
    IngestAssembly first = fixture.ingest(fixture.kafka(), ConsumerLens.of(moments));
    IngestAssembly second = fixture.ingest();
    await().until(() -> first.health().partitions() == 1 && second.health().partitions() == 1);
    broken.set(true);
    await().until(() -> second.health().partitions() == 2);
    assertThat(first.health().state()).isEqualTo(IngestHealth.State.FAILED);
    assertThat(first.health().lastError()).isEqualTo("not really");
    assertThat(second.health().state()).isEqualTo(IngestHealth.State.RUNNING);
  }

  @Test
  void aTopicThatIsCreatedAgainStartsAnew() {
    fixture.produce(0, fixture.requests(0, 10));
    IngestAssembly ingest = fixture.ingest();
    await().until(() -> ingest.stats().snapshot().decided() == 10);
    createAgain();
    // More than before: the old position would lie in the middle of the new records.
    fixture.produce(0, fixture.requests(10, 30));
    await().until(() -> ingest.stats().snapshot().decided() >= 40);
    assertThat(fixture.receipts().stream().skip(10).map(r -> r.offset()))
        .containsExactlyElementsOf(LongStream.range(0, 30).boxed().toList());
    assertThat(
            fixture
                .database()
                .column(
                    "select position from escapement.ingest_position where partition = 0 order by 1"))
        .containsExactly("10", "30");
  }

  @Test
  void aTopicThatIsCreatedAgainBetweenTwoPollsStartsAnew() throws Exception {
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    AtomicBoolean hold = new AtomicBoolean();
    ConsumerLens.Moments moments =
        new ConsumerLens.Moments() {
          @Override
          public void beforePoll(Consumer<byte[], byte[]> consumer) throws InterruptedException {
            if (hold.get()) {
              held.countDown();
              release.await();
            }
          }
        };
    fixture.produce(0, fixture.requests(0, 10));
    IngestAssembly ingest = fixture.ingest(fixture.kafka(), ConsumerLens.of(moments));
    await().until(() -> ingest.stats().snapshot().decided() == 10);
    hold.set(true);
    held.await();
    createAgain();
    fixture.produce(0, fixture.requests(10, 30));
    release.countDown();
    // The consumer has never seen the topic gone: it stands at 10, in the middle of the new one.
    await().until(() -> fixture.receipts().size() >= 40);
    assertThat(fixture.receipts().stream().skip(10).map(r -> r.offset()))
        .containsExactlyElementsOf(LongStream.range(0, 30).boxed().toList());
    assertThat(fixture.intents()).isEqualTo(40);
  }

  @Test
  void aPositionOutsideItsPartitionStopsOnlyThatPartition() {
    fixture.produce(0, fixture.requests(0, 20));
    fixture.produce(1, fixture.requests(100, 20));
    String other = fixture.topic() + ".other";
    fixture.createTopic(other, 1);
    fixture.produce(
        0, RecordBuilder.binary().topic(other).without("ce_tenant").with("ce_id", "other"));
    position(fixture.topic(), 0, 21);
    position(fixture.topic(), 1, 3);
    IngestFixture.get(
        () ->
            fixture
                .admin()
                .deleteRecords(
                    Map.of(new TopicPartition(fixture.topic(), 1), RecordsToDelete.beforeOffset(5)))
                .all()
                .get());
    IngestAssembly ingest = fixture.ingest();
    await().until(() -> ingest.health().stopped().size() == 2);
    await().until(() -> ingest.stats().snapshot().decided() == 1);
    assertThat(ingest.health().state()).isEqualTo(IngestHealth.State.DEGRADED);
    assertThat(ingest.health().stopped().get(fixture.topic() + "-0"))
        .contains("position 21")
        .contains("beyond its end 20");
    assertThat(ingest.health().stopped().get(fixture.topic() + "-1"))
        .contains("position 3")
        .contains("first record 5")
        .contains("2 offsets");

    createAgain();
    fixture.produce(0, fixture.requests(200, 5));
    await().until(() -> ingest.stats().snapshot().decided() == 6);
    assertThat(ingest.health().stopped()).isEmpty();
  }

  @Test
  void aConsumerThatStraysIsBroughtBackToTheLedgersPosition() {
    AtomicBoolean stray = new AtomicBoolean();
    TopicPartition partition = new TopicPartition(fixture.topic(), 0);
    ConsumerLens.Moments moments =
        new ConsumerLens.Moments() {
          @Override
          public void beforePoll(Consumer<byte[], byte[]> consumer) {
            if (stray.getAndSet(false)) {
              consumer.seek(partition, 10_000);
            }
          }
        };
    fixture.produce(0, fixture.requests(0, 10));
    IngestAssembly ingest = fixture.ingest(fixture.kafka(), ConsumerLens.of(moments));
    await().until(() -> ingest.stats().snapshot().decided() == 10);
    stray.set(true);
    await().until(() -> ingest.stats().snapshot().failures() > 0);
    fixture.produce(0, fixture.requests(10, 10));
    await().until(() -> ingest.stats().snapshot().decided() >= 20);
    assertEachDecidedOnce(20);
  }

  private void assertEachDecidedOnce(int records) {
    assertThat(fixture.decisionsByRecord())
        .hasSize(records)
        .allSatisfy((r, n) -> assertThat(n).isOne());
  }

  /** The group goes on without a member that does not poll for this long. */
  private Map<String, Object> soonThrownOut() {
    Map<String, Object> kafka = fixture.kafka();
    kafka.put("max.poll.interval.ms", 1_500);
    return kafka;
  }

  private UnfencedIngest unfenced(Map<String, Object> kafka, ConsumerLens.Moments moments) {
    return new UnfencedIngest(
        fixture.database().connect(Role.INGEST),
        kafka,
        fixture.topic(),
        fixture.group(),
        ConsumerLens.of(moments));
  }

  private void createAgain() {
    fixture.deleteTopic(fixture.topic());
    await()
        .until(
            () ->
                !IngestFixture.get(() -> fixture.admin().listTopics().names().get())
                    .contains(fixture.topic()));
    fixture.createTopic(fixture.topic(), 2);
  }

  private void position(String topic, int partition, long position) {
    UUID id =
        new TopicFacts(fixture.admin(), Duration.ofSeconds(10)).ids(List.of(topic)).get(topic);
    assertThat(id).isNotNull();
    fixture
        .database()
        .execute(
            "insert into escapement.ingest_position (topic_id, partition, topic, position) values ('%s', %d, '%s', %d)"
                .formatted(id, partition, topic, position));
  }
}
