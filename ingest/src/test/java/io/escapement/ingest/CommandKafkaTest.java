package io.escapement.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.escapement.ledger.CommandRecord;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.OutboxEvent;
import io.escapement.ledger.PartitionKey;
import io.escapement.ledger.PositionAdvance;
import io.escapement.ledger.Role;
import io.escapement.ledger.TopicNames;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** I1 for commands: one decision per record, in order, whatever a record holds and who dies. */
class CommandKafkaTest {

  private final CommandFixture fixture = new CommandFixture();

  @BeforeAll
  static void beGenerous() {
    Awaitility.setDefaultTimeout(Duration.ofSeconds(60));
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void commandsAreExecutedInOrderAndHaveOneReceiptEach() {
    fixture.produce(
        fixture.pause("a"),
        fixture.command("b", "resume", "{\"scope\":\"kind\",\"name\":\"a\"}"),
        fixture.pause("c"),
        fixture.pause("a"),
        RecordBuilder.structured(
                "{\"specversion\":\"1.0\",\"id\":\"d\",\"source\":\"/ops\",\"type\":\"pause\","
                    + "\"data\":{\"scope\":\"kind\",\"name\":\"d\"}}")
            .topic(fixture.topic()));
    IngestAssembly commands = fixture.commands();
    await().until(() -> commands.stats().snapshot().decided() == 5);
    assertThat(fixture.decisions())
        .containsExactly("0 executed", "1 executed", "2 executed", "3 replay", "4 executed");
    assertThat(fixture.paused()).containsExactly("c", "d");
    assertThat(commands.health().state()).isEqualTo(IngestHealth.State.RUNNING);
    assertThat(commands.health().partitions()).isEqualTo(1);
    await().until(() -> committed() == 5);
    assertThat(
            fixture.database().column("select distinct who from escapement.actions where id > 1"))
        .contains("/ops (unauthenticated)");
  }

  @Test
  void aBadRecordDoesNotHoldUpTheNext() {
    String deep = "[".repeat(2_000) + "]".repeat(2_000);
    RecordBuilder[] bad = {
      fixture.pause("1").value(null),
      fixture.pause("2").without("ce_type"),
      fixture.command("3", "explode", "{}"),
      fixture.command("4", "pause", "not JSON"),
      fixture.command("5", "pause", "{\"scope\":\"kind\",\"name\":" + deep + "}"),
      fixture.command("6", "retire", "{\"limit\":" + "9".repeat(1_000) + "}"),
      fixture.command("7", "pause", "{\"scope\":\"kind\",\"name\":\"a\\u0000b\"}"),
      fixture.command("8", "pause", "{\"scope\":\"kind\",\"name\":\"\\ud800\"}"),
      fixture.command("9", "pause", "{\"scope\":\"kind\",\"name\":\"a\0b\"}"),
      fixture.command("10", "pause", "{\"scope\":\"kind\",\"name\":\"x\",\"name\":\"y\"}"),
      fixture.command(
          "11", "pause", "{\"scope\":\"kind\",\"name\":\"" + "x".repeat(200_000) + "\"}"),
      fixture.command("12", "pause", "x".repeat(300_000)),
      fixture.pause("13").value(new byte[] {'{', (byte) 0xff, '}'}),
      fixture.pause("14").header("ce_id", new byte[] {(byte) 0xff}),
      fixture.pause("15").with("ce_source", "escapement:me"),
      fixture.command("16", "pause", deep.repeat(50)),
    };
    List<RecordBuilder> all = new ArrayList<>();
    for (int i = 0; i < bad.length; i++) {
      all.add(bad[i]);
      all.add(fixture.pause("sound-" + (char) ('a' + i)));
    }
    fixture.produce(all.toArray(RecordBuilder[]::new));
    IngestAssembly commands = fixture.commands();
    await().until(() -> fixture.receipts().size() == all.size());
    for (OutboxEvent.CommandReceipt receipt : fixture.receipts()) {
      String expected =
          receipt.offset() % 2 == 1 ? "executed" : receipt.offset() == 22 ? "oversize" : "invalid";
      assertThat(receipt.decision().word()).as(receipt.toString()).isEqualTo(expected);
    }
    assertThat(fixture.paused()).hasSize(bad.length).allMatch(name -> name.startsWith("sound-"));
    assertThat(
            fixture.database().events().stream()
                .filter(OutboxEvent.DeadLetter.class::isInstance)
                .count())
        .isEqualTo(bad.length - 1);
    assertThat(commands.stats().snapshot().failures()).isZero();
  }

  /** Holds its consumer's thread between a poll and the execution, until told to go on. */
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
  void aZombieExecutesNothingThatItsSuccessorHasExecuted() throws Exception {
    fixture.produce(pauses("a", "b", "c"));
    Frozen frozen = new Frozen();
    IngestAssembly zombie = fixture.commands(fixture.soonThrownOut(), ConsumerLens.of(frozen));
    frozen.polled.await();
    IngestAssembly successor = fixture.commands();
    await().until(() -> successor.stats().snapshot().decided() == 3);
    frozen.release.countDown();
    await().until(() -> zombie.stats().snapshot().fences() > 0);
    fixture.produce(pauses("d", "e"));
    await().until(() -> fixture.receipts().size() >= 5);
    assertThat(fixture.decisions())
        .containsExactly("0 executed", "1 executed", "2 executed", "3 executed", "4 executed");
  }

  /** The same zombie's call, with a fence that knows nothing of the topic. */
  @Test
  void withoutTheFenceTheRecordWouldHaveTwoReceipts() {
    fixture.produce(fixture.pause("a"));
    fixture.commands();
    await().until(() -> fixture.receipts().size() == 1);
    ConsumerRecord<byte[], byte[]> record = fixture.pause("a").offset(0).consumed();
    PartitionKey unknown = new PartitionKey(fixture.topic(), UUID.randomUUID(), 0);
    try (Ledger operator = fixture.database().connect(Role.OPERATOR)) {
      CommandRecord again =
          new CommandReader(1_000).read(record, new PositionAdvance(unknown, null, 1));
      operator.command(again);
    }
    assertThat(fixture.decisions()).containsExactly("0 executed", "0 replay");
  }

  @Test
  void aRestartGoesOnWhereTheLedgerStands() {
    fixture.produce(pauses("a", "b"));
    IngestAssembly first = fixture.commands();
    await().until(() -> first.stats().snapshot().decided() == 2);
    first.close();
    assertThat(first.health().state()).isEqualTo(IngestHealth.State.CLOSED);
    fixture.produce(pauses("c"));
    IngestAssembly second = fixture.commands();
    await().until(() -> second.stats().snapshot().decided() == 1);
    assertThat(fixture.decisions()).containsExactly("0 executed", "1 executed", "2 executed");
  }

  @Test
  void aLockIsWaitedForAndTheCommandExecutedOnce() throws Exception {
    fixture.produce(
        fixture.command("1", "set_limits", "{\"max_tasks\":10,\"max_bytes\":1000}"),
        fixture.pause("b"));
    IngestAssembly commands;
    try (Connection holder = fixture.database().connection();
        Statement s = holder.createStatement()) {
      holder.setAutoCommit(false);
      s.execute("select from escapement.budget for update");
      commands = fixture.commands();
      // The ledger gives up on the lock, and the loop tries again.
      await().until(() -> commands.stats().snapshot().failures() > 0);
      await().until(() -> commands.health().state() == IngestHealth.State.DEGRADED);
      assertThat(fixture.receipts()).isEmpty();
      holder.rollback();
    }
    await().until(() -> fixture.receipts().size() == 2);
    assertThat(fixture.decisions()).containsExactly("0 executed", "1 executed");
    await().until(() -> commands.health().state() == IngestHealth.State.RUNNING);
  }

  @Test
  void aCommandThatAlwaysTakesTooLongIsRefusedAtLastAndHoldsUpNobody() {
    fixture
        .database()
        .execute(
            """
            create function slow() returns trigger language plpgsql as $$
            begin
              if new.name = 'slow' then
                raise exception 'canceling statement due to statement timeout'
                  using errcode = '57014';
              end if;
              return new;
            end $$;
            create trigger slow before insert on escapement.pause
            for each row execute function slow()""");
    fixture.produce(pauses("slow", "quick"));
    IngestAssembly commands = fixture.commands();
    await().until(() -> fixture.receipts().size() == 2);
    assertThat(fixture.decisions()).containsExactly("0 invalid", "1 executed");
    assertThat(fixture.receipts().get(0).reason()).contains("ask for less at once");
    assertThat(commands.stats().snapshot().failures()).isEqualTo(2);
  }

  @Test
  void aTopicThatIsCreatedAgainStartsAnew() {
    fixture.produce(pauses("a", "b"));
    IngestAssembly commands = fixture.commands();
    await().until(() -> commands.stats().snapshot().decided() == 2);
    fixture.servers().deleteTopic(fixture.topic());
    await()
        .until(
            () ->
                !IngestFixture.get(() -> fixture.servers().admin().listTopics().names().get())
                    .contains(fixture.topic()));
    fixture.servers().createTopic(fixture.topic(), 1);
    fixture.produce(pauses("c", "d", "e"));
    await().until(() -> fixture.receipts().size() >= 5);
    assertThat(fixture.decisions())
        .containsExactly("0 executed", "1 executed", "0 executed", "1 executed", "2 executed");
  }

  @Test
  void aPositionThatRetentionOvertookStopsThePartitionLoudly() {
    fixture.produce(pauses("a", "b", "c"));
    UUID id =
        new TopicFacts(fixture.servers().admin(), Duration.ofSeconds(10))
            .ids(List.of(fixture.topic()))
            .get(fixture.topic());
    fixture
        .database()
        .execute(
            "insert into escapement.ingest_position (topic_id, partition, topic, position) values ('%s', 0, '%s', 1)"
                .formatted(id, fixture.topic()));
    IngestFixture.get(
        () ->
            fixture
                .servers()
                .admin()
                .deleteRecords(
                    Map.of(new TopicPartition(fixture.topic(), 0), RecordsToDelete.beforeOffset(2)))
                .all()
                .get());
    IngestAssembly commands = fixture.commands();
    await().until(() -> commands.health().stopped().size() == 1);
    assertThat(commands.health().state()).isEqualTo(IngestHealth.State.DEGRADED);
    assertThat(commands.health().stopped().get(fixture.topic() + "-0"))
        .contains("position 1")
        .contains("lies before its first record 2");
    assertThat(fixture.receipts()).isEmpty();
    fixture
        .database()
        .execute("select escapement.move_position('%s', 0, 1, 2, 'given up')".formatted(id));
    await().until(() -> fixture.receipts().size() == 1);
    assertThat(fixture.decisions()).containsExactly("2 executed");
    await().until(() -> commands.health().state() == IngestHealth.State.RUNNING);
  }

  @Test
  void withoutItsTopicItDoesNotStart() {
    try (Ledger operator = fixture.database().connect(Role.OPERATOR)) {
      TopicNames missing = new TopicNames("missing");
      assertThatThrownBy(
              () ->
                  IngestAssembly.ofCommands(
                      operator,
                      fixture.servers().kafka(),
                      missing,
                      IngestConfig.ofCommands(missing)))
          .isInstanceOf(IngestException.class)
          .hasMessageContaining("'missing.commands', which Kafka does not have")
          .hasMessageContaining("ingest.commands=false");
    }
  }

  private RecordBuilder[] pauses(String... ids) {
    RecordBuilder[] records = new RecordBuilder[ids.length];
    for (int i = 0; i < ids.length; i++) {
      records[i] = fixture.pause(ids[i]);
    }
    return records;
  }

  private long committed() {
    return IngestFixture.get(
            () ->
                fixture
                    .servers()
                    .admin()
                    .listConsumerGroupOffsets(fixture.config().group())
                    .partitionsToOffsetAndMetadata()
                    .get())
        .entrySet()
        .stream()
        .filter(e -> e.getValue() != null)
        .mapToLong(e -> e.getValue().offset())
        .sum();
  }
}
