package io.escapement.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.escapement.ledger.Decision;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.PartitionKey;
import io.escapement.ledger.PositionMoved;
import io.escapement.ledger.Role;
import java.lang.management.ManagementFactory;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import javax.management.JMException;
import javax.management.ObjectName;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.TopicPartition;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What makes ingest wait, and that it waits inside the group and goes on by itself. */
class HoldKafkaTest {

  private final IngestFixture fixture = new IngestFixture(2);
  private Ledger operator;

  @BeforeAll
  static void beGenerous() {
    Awaitility.setDefaultTimeout(Duration.ofSeconds(60));
  }

  @BeforeEach
  void open() {
    operator = fixture.database().connect(Role.OPERATOR);
  }

  @AfterEach
  void close() {
    assertThat(operator.audit()).isEmpty();
    fixture.close();
  }

  @Test
  void aTopicThatHoldsWaitsForRoomAcrossARestartAndRefusesNothing() throws Exception {
    operator.setLimits(10, 1_000_000, "test");
    fixture.produce(0, fixture.requests(0, 30));
    IngestAssembly first = fixture.ingest(fixture.holding());
    await().until(() -> !first.health().held().isEmpty());
    assertThat(first.health().held()).containsOnlyKeys(fixture.topic() + "-0");
    assertThat(first.health().state()).isEqualTo(IngestHealth.State.RUNNING);
    assertThat(metric("HeldPartitions")).contains(fixture.topic() + "-0").contains("global_full");
    assertThat(fixture.receipts()).hasSize(10);
    assertThat(operator.status().held()).singleElement().extracting("position").isEqualTo(10L);
    first.close();

    IngestAssembly second = fixture.ingest(fixture.holding());
    await().until(() -> !second.health().held().isEmpty());
    assertThat(second.health().partitions()).as("in the group all the while").isEqualTo(2);
    operator.setLimits(20, 1_000_000, "test");
    await().until(() -> fixture.receipts().size() == 20);
    operator.setLimits(100, 1_000_000, "test");
    await().until(() -> fixture.receipts().size() == 30);
    await().until(() -> second.health().held().isEmpty());
    fixture.produce(0, fixture.requests(30, 1));
    await().until(() -> fixture.receipts().size() == 31);
    assertThat(decisions()).containsOnlyKeys(Decision.ACCEPTED);
    assertThat(fixture.decisionsByRecord()).hasSize(31).allSatisfy((r, n) -> assertThat(n).isOne());
    assertThat(operator.status().held()).isEmpty();
  }

  @Test
  void aRecordThatWaitsIsTriedWhileOthersKeepTheLedgerBusy() {
    String busy = fixture.topic() + ".other";
    fixture.createTopic(busy, 1);
    operator.setLimits(1, 1_000_000, "test");
    fixture.produce(0, fixture.requests(0, 2));
    IngestAssembly ingest = fixture.ingest(fixture.holding().withBatchRecords(1));
    await().until(() -> !ingest.health().held().isEmpty());
    RecordBuilder[] others = new RecordBuilder[5_000];
    for (int i = 0; i < others.length; i++) {
      // Invalid ones: they need no room, so that they can't take the record's.
      others[i] = fixture.request("o-" + i).topic(busy).with("ce_tenant", "not its tenant");
    }
    fixture.produce(0, others);
    await().until(() -> ingest.stats().snapshot().decided() > 100);
    operator.setLimits(2, 1_000_000, "test");
    await().until(() -> fixture.decisionsById().get("r-1") == Decision.ACCEPTED);
    assertThat(ingest.stats().snapshot().decided()).isLessThan(others.length);
  }

  @Test
  void aTopicThatDoesNotHoldRefuses() {
    operator.setLimits(10, 1_000_000, "test");
    fixture.produce(0, fixture.requests(0, 30));
    fixture.ingest();
    await().until(() -> fixture.receipts().size() == 30);
    assertThat(decisions()).isEqualTo(Map.of(Decision.ACCEPTED, 10L, Decision.GLOBAL_FULL, 20L));
  }

  @Test
  void anIngestThatWaitsForALockStaysInTheGroup() throws Exception {
    Map<String, Object> kafka = fixture.kafka();
    kafka.put("max.poll.interval.ms", 6_000);
    IngestAssembly ingest = fixture.ingest(kafka, consumer -> consumer);
    fixture.produce(0, fixture.requests(0, 10));
    await().until(() -> fixture.receipts().size() == 10);
    try (Connection connection = fixture.database().connection();
        Statement sql = connection.createStatement()) {
      connection.setAutoCommit(false);
      sql.execute("select from escapement.budget for update");
      fixture.produce(0, fixture.requests(10, 500));
      fixture.produce(1, fixture.requests(600, 500));
      // Twice as long as a consumer may be silent; the lock's own limit passes, too.
      await()
          .during(Duration.ofSeconds(13))
          .atMost(Duration.ofSeconds(60))
          .until(() -> ingest.health().partitions() == 2);
      assertThat(fixture.receipts()).hasSize(10);
      connection.rollback();
    }
    await().until(() -> fixture.receipts().size() == 1_010);
    assertThat(fixture.decisionsByRecord()).allSatisfy((r, n) -> assertThat(n).isOne());
    assertThat(ingest.stats().snapshot().fences()).as("nobody else came").isZero();
  }

  @Test
  void aBatchThatIsOpenWhenItsPartitionIsGivenUpIsDecidedBeforeTheNextOwnerBegins()
      throws Exception {
    IngestAssembly first = fixture.ingest();
    fixture.produce(0, fixture.requests(0, 10));
    fixture.produce(1, fixture.requests(20, 10));
    await().until(() -> fixture.receipts().size() == 20);
    IngestAssembly second;
    try (Connection connection = fixture.database().connection();
        Statement sql = connection.createStatement()) {
      connection.setAutoCommit(false);
      sql.execute("select from escapement.budget for update");
      fixture.produce(0, fixture.requests(100, 50));
      fixture.produce(1, fixture.requests(200, 50));
      await().until(() -> waiting() > 0);
      second = fixture.ingest();
      connection.rollback();
    }
    await().until(() -> second.health().partitions() == 1 && first.health().partitions() == 1);
    await().until(() -> fixture.receipts().size() >= 120);
    assertThat(fixture.decisionsByRecord())
        .hasSize(120)
        .allSatisfy((r, n) -> assertThat(n).isOne());
    assertThat(first.stats().snapshot().fences() + second.stats().snapshot().fences())
        .as("nobody had to be fenced")
        .isZero();
  }

  @Test
  void aStoppedPartitionGoesOnWhereAnOperatorSays() throws Exception {
    fixture.produce(0, fixture.requests(0, 10));
    fixture.produce(1, fixture.requests(100, 1));
    IngestAssembly first = fixture.ingest();
    await().until(() -> fixture.receipts().size() == 11);
    first.close();
    fixture.produce(0, fixture.requests(10, 10));
    TopicPartition partition = new TopicPartition(fixture.topic(), 0);
    fixture.admin().deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(15))).all().get();
    IngestAssembly second = fixture.ingest();
    await().until(() -> !second.health().stopped().isEmpty());
    String reason = second.health().stopped().get(partition.toString());
    assertThat(metric("StoppedPartitions")).contains("move_position");
    assertThat(metric("State")).isEqualTo("DEGRADED");
    assertThat(reason)
        .contains("position 10")
        .contains("first record 15")
        .contains("escapement.move_position('");
    fixture.produce(1, fixture.requests(101, 5));
    await().until(() -> fixture.receipts().size() == 16);

    UUID topicId =
        UUID.fromString(
            fixture.database().column("select topic_id from escapement.ingest_positions").get(0));
    assertThat(
            operator.movePosition(
                new PartitionKey(fixture.topic(), topicId, 0), 10, 15, "they are lost"))
        .isEqualTo(PositionMoved.MOVED);
    await().until(() -> fixture.receipts().size() == 21);
    await().until(() -> second.health().stopped().isEmpty());
  }

  private String metric(String attribute) throws JMException {
    ObjectName name =
        new ObjectName("io.escapement:type=Ingest,name=" + ObjectName.quote(fixture.group()));
    return ManagementFactory.getPlatformMBeanServer().getAttribute(name, attribute).toString();
  }

  private long waiting() {
    return fixture
        .database()
        .number("select count(*) from pg_stat_activity where wait_event_type = 'Lock'");
  }

  private Map<Decision, Long> decisions() {
    return fixture.receipts().stream()
        .collect(Collectors.groupingBy(r -> r.decision(), Collectors.counting()));
  }
}
