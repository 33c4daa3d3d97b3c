package io.escapement.dispatcher.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.ledger.AdmissionBatch;
import io.escapement.ledger.Decision;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.PartitionKey;
import io.escapement.ledger.PositionAdvance;
import io.escapement.ledger.RecordEnvelope;
import io.escapement.ledger.Role;
import io.escapement.ledger.Submission;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.config.ConfigResource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Invariant I12: every committed outbox event is in Kafka, once while the slot lives. */
class RelayKafkaTest {

  private static final int ONE_LOAD_ROWS = 4_000;
  private static final long ONE_LOAD_BYTES = 900L * ONE_LOAD_ROWS;
  private static final boolean LONG = Boolean.getBoolean("chaos");

  /** A gigabyte of other log by {@code -Pchaos}, a taste of it without. */
  private static final int NOISE_ROUNDS = LONG ? 520 : 40;

  private RelayHarness harness;

  @BeforeEach
  void open() {
    harness = RelayHarness.create();
  }

  @AfterEach
  void close() {
    harness.close();
  }

  @Test
  void everyEventIsReadOnceAcrossStopsAndStarts() {
    OutboxWriter writer = harness.writer("w");
    EventReader reader = harness.reader();
    writer.write(3); // before there is a slot
    for (int run = 0; run < 2; run++) {
      try (Relay relay = harness.startRelay()) {
        for (int i = 0; i < 50; i++) {
          writer.write(1 + i % 7);
        }
        reader.awaitAll(writer.committed());
        assertThat(relay.health().lastError()).isNull();
      }
      writer.write(2); // while none runs
    }
    Relay relay = harness.startRelay();
    reader.awaitAll(writer.committed());
    reader.readToEnd();
    assertThat(reader.faults(writer)).isEmpty();
    assertThat(reader.events()).noneMatch(EventReader.Event::repeated);
    assertThat(relay.health().role()).isEqualTo(RelayHealth.Role.LEADER);
  }

  @Test
  void whatCommitsLastIsRelayedThoughItTookItsIdFirst() {
    OutboxWriter early = harness.writer("early");
    OutboxWriter late = harness.writer("late");
    EventReader reader = harness.reader();
    Relay relay = harness.startRelay();
    awaitStream(late, reader);
    long first = early.insert(1);
    long second = late.write(1);
    reader.awaitAll(late.committed());
    relay.close();
    early.commit();
    assertThat(first).as("a position by id would be beyond it").isLessThan(second);
    harness.startRelay();
    reader.awaitAll(early.committed());
    late.write(1);
    reader.awaitAll(late.committed());
    reader.readToEnd();
    assertThat(reader.faults(early, late)).isEmpty();
  }

  @Test
  void aPositionOutsideTheEventsTransactionIsFoundOut() {
    AtomicInteger crashes = new AtomicInteger(2);
    RelayConfig config = harness.config();
    OutboxWriter writer = harness.writer("w");
    EventReader reader = harness.reader();
    try (Relay careless =
        new Relay(
            config,
            (ledgerId, timeout) ->
                new CarelessSink(
                    KafkaSink.open(config, ledgerId, timeout),
                    () -> {
                      if (crashes.getAndDecrement() > 0) {
                        throw new IllegalStateException("a crash between events and position");
                      }
                    }))) {
      careless.start();
      Awaitility.await()
          .atMost(RelayHarness.PATIENCE)
          .until(
              () -> {
                writer.write(2);
                reader.poll();
                return crashes.get() <= 0;
              });
      reader.awaitAll(writer.committed());
    }
    reader.readToEnd();
    assertThat(reader.faults(writer)).isNotEmpty().allMatch(fault -> fault.endsWith(" times"));
  }

  @Test
  void anErrorEndsOneTermAndNotTheRelay() {
    AtomicInteger errors = new AtomicInteger(1);
    RelayConfig config = harness.config();
    OutboxWriter writer = harness.writer("w");
    EventReader reader = harness.reader();
    try (Relay relay =
        new Relay(
            config,
            (ledgerId, timeout) -> {
              if (errors.getAndDecrement() > 0) {
                throw new StackOverflowError("for the test");
              }
              return KafkaSink.open(config, ledgerId, timeout);
            })) {
      relay.start();
      writer.write(3);
      reader.awaitAll(writer.committed());
    }
    assertThat(errors.get()).isNegative();
  }

  @Test
  void aSlotDroppedWhileNoRelayRunsLosesNothingAndWhatIsRepeatedIsMarked() {
    OutboxWriter writer = harness.writer("w");
    EventReader reader = harness.reader();
    try (Relay relay = harness.startRelay()) {
      writer.write(3);
      reader.awaitAll(writer.committed());
      assertThat(relay.health().events()).isEqualTo(3);
    }
    List<String> before = writer.committed();
    writer.write(2); // only in the slot's log, and in the table
    harness.dropSlot();
    writer.write(2); // after it
    harness.startRelay();
    reader.awaitAll(writer.committed());
    writer.write(1);
    reader.awaitAll(writer.committed());
    reader.readToEnd();
    List<String> repeated =
        reader.events().stream()
            .filter(EventReader.Event::repeated)
            .map(EventReader.Event::id)
            .toList();
    assertThat(repeated).containsExactlyElementsOf(writer.committed().subList(0, 7));
    assertThat(reader.events().stream().filter(e -> !e.repeated()).map(EventReader.Event::id))
        .containsAll(before)
        .doesNotHaveDuplicates()
        .hasSize(before.size() + 1);
  }

  @Test
  void aSlotDroppedUnderARunningRelayIsNoticedAndLosesNothing() {
    OutboxWriter writer = harness.writer("w");
    EventReader reader = harness.reader();
    Relay relay = harness.startRelay();
    awaitStream(writer, reader);
    harness.dropSlot();
    writer.write(3);
    reader.awaitAll(writer.committed());
    Awaitility.await().atMost(RelayHarness.PATIENCE).until(() -> relay.health().terms() >= 2);
    writer.write(1);
    reader.awaitAll(writer.committed());
    assertThat(reader.events().getLast().repeated()).isFalse();
  }

  @Test
  void aSlotThatSomebodyMovedIsNotTrusted() {
    OutboxWriter writer = harness.writer("w");
    EventReader reader = harness.reader();
    try (Relay relay = harness.startRelay()) {
      awaitStream(writer, reader);
      assertThat(relay.health().position()).isNotNull();
    }
    writer.write(2);
    harness.awaitFreeSlot();
    harness
        .ledger()
        .column(
            "select pg_replication_slot_advance('" + harness.slot() + "', pg_current_wal_lsn())");
    harness.startRelay();
    reader.awaitAll(writer.committed());
  }

  @Test
  void relayedRowsAreDeletedAndNoOthers() {
    OutboxWriter early = harness.writer("early");
    OutboxWriter writer = harness.writer("w");
    EventReader reader = harness.reader();
    Relay relay =
        harness.startRelay(
            harness.config().withTuning(RelayTuning.DEFAULT.withPruneGrace(Duration.ZERO)));
    awaitStream(writer, reader);
    early.insert(1); // takes its id, and stays open
    for (int i = 0; i < 20; i++) {
      writer.write(1);
    }
    awaitEmptyOutbox();
    relay.close();
    early.commit();
    assertThat(harness.ledger().number("select count(*) from escapement.outbox")).isEqualTo(1);
    harness.startRelay(
        harness.config().withTuning(RelayTuning.DEFAULT.withPruneGrace(Duration.ZERO)));
    awaitEmptyOutbox();
    reader.awaitAll(writer.committed());
    reader.awaitAll(early.committed());
    reader.readToEnd();
    assertThat(reader.faults(early, writer)).isEmpty();
  }

  /** Vacuum can't give the space back while somebody may still see the rows; deleting goes on. */
  @Test
  void relayedRowsAreDeletedWhileALongTransactionHoldsBackVacuumAndTheirSpaceIsUsedAgain()
      throws Exception {
    OutboxWriter writer = harness.writer("w");
    harness.startRelay(
        harness.config().withTuning(RelayTuning.DEFAULT.withPruneGrace(Duration.ZERO)));
    try (Connection old = harness.ledger().connection()) {
      old.setAutoCommit(false);
      old.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      old.createStatement().executeQuery("select count(*) from escapement.outbox").close();
      writeMany(writer);
      awaitEmptyOutbox();
      harness.ledger().execute("vacuum escapement.outbox");
      assertThat(outboxBytes()).as("nothing is given back yet").isGreaterThan(ONE_LOAD_BYTES);
      old.rollback();
    }
    harness.ledger().execute("vacuum escapement.outbox");
    assertThat(outboxBytes()).as("given back").isLessThan(ONE_LOAD_BYTES / 4);
    for (int load = 0; load < 4; load++) {
      writeMany(writer);
      awaitEmptyOutbox();
      // What autovacuum does when a fiftieth of the rows are dead, within its minute.
      harness.ledger().execute("vacuum (truncate false) escapement.outbox");
    }
    assertThat(outboxBytes()).as("used again").isLessThan(2 * ONE_LOAD_BYTES);
  }

  private void writeMany(OutboxWriter writer) {
    String packed = "O\tdone\t1\tw\tkey\tt\twork\tlocal\t1\tCOMPLETED\t" + noise(900) + "\n";
    for (int i = 0; i < ONE_LOAD_ROWS; i++) {
      writer.insert(packed, 1);
      if (i % 50 == 0) {
        writer.commit();
      }
    }
    writer.commit();
  }

  private long outboxBytes() {
    return harness.ledger().number("select pg_total_relation_size('escapement.outbox')");
  }

  @Test
  void whatItHasDoneAndHowFarItIsIsShownByJmx() throws Exception {
    OutboxWriter writer = harness.writer("w");
    EventReader reader = harness.reader();
    ObjectName name = new ObjectName("io.escapement:type=Relay,name=" + harness.slot());
    MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
    Relay relay = harness.startRelay();
    awaitStream(writer, reader);
    writer.write(3);
    reader.awaitAll(writer.committed());
    Awaitility.await()
        .atMost(RelayHarness.PATIENCE)
        .until(() -> beans.getAttribute(name, "Events").equals(5L));
    assertThat(beans.getAttribute(name, "Role")).isEqualTo("LEADER");
    assertThat(beans.getAttribute(name, "TakeOvers")).isEqualTo(1L);
    assertThat(beans.getAttribute(name, "Rows")).isEqualTo(3L);
    assertThat((long) beans.getAttribute(name, "Batches")).isGreaterThanOrEqualTo(3);
    assertThat((String) beans.getAttribute(name, "Position")).contains("/");
    assertThat(beans.getAttribute(name, "LastError")).isNull();
    assertThat((long) beans.getAttribute(name, "RetainedBytes")).isNotNegative();
    Awaitility.await()
        .atMost(RelayHarness.PATIENCE)
        .until(
            () ->
                (double) beans.getAttribute(name, "LagSeconds") == 0
                    && (long) beans.getAttribute(name, "LagBytes") < 1 << 20);
    relay.close();
    assertThat(beans.isRegistered(name)).isFalse();
  }

  /** The commits stay in the log, and time passes. */
  @Test
  void whileKafkaTakesNothingTheLagGrows() throws Exception {
    OutboxWriter writer = harness.writer("w");
    EventReader reader = harness.reader();
    CountDownLatch stuck = new CountDownLatch(1);
    AtomicInteger holding = new AtomicInteger();
    RelayConfig config = harness.config();
    try (Relay relay =
        new Relay(
            config,
            (ledgerId, timeout) ->
                new CarelessSink(
                    KafkaSink.open(config, ledgerId, timeout),
                    () -> {
                      if (holding.get() > 0) {
                        await(stuck);
                      }
                    }))) {
      relay.start();
      awaitStream(writer, reader);
      holding.set(1);
      writer.write(1);
      Awaitility.await()
          .atMost(RelayHarness.PATIENCE)
          .until(
              () ->
                  relay.health().lag().compareTo(Duration.ofMillis(500)) > 0
                      && relay.health().lagBytes() > 0);
      holding.set(0);
      stuck.countDown();
      Awaitility.await().atMost(RelayHarness.PATIENCE).until(() -> relay.health().lag().isZero());
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The largest batch that ingest makes: sixteen megabytes, all of it the largest dead letters. */
  @Test
  void theLargestBatchThatCanBeAdmittedIsRelayed() throws Exception {
    int letters = 32;
    byte[] value = noise(262_144).getBytes(StandardCharsets.US_ASCII);
    byte[] header = noise(261_000).getBytes(StandardCharsets.US_ASCII);
    RecordEnvelope envelope =
        new RecordEnvelope(new byte[] {1}, List.of(new RecordEnvelope.Header("large", header)));
    List<Submission> batch = new ArrayList<>();
    for (int i = 0; i < letters; i++) {
      batch.add(
          new Submission.Refused(
              0, i, Decision.INVALID, "no event", null, null, null, null, value, envelope));
    }
    OutboxWriter writer = harness.writer("w");
    EventReader reader = harness.reader();
    Relay relay = harness.startRelay();
    awaitStream(writer, reader);
    try (Ledger ingest = Ledger.connect(harness.config().ledger(), Role.INGEST)) {
      PartitionKey partition = new PartitionKey("requests", UUID.randomUUID(), 0);
      ingest.admit(
          new AdmissionBatch(List.of(new PositionAdvance(partition, null, letters)), batch));
    }
    // A receipt and a dead letter each, and the two before.
    reader.awaitCount(2 * letters + 2);
    assertThat(reader.records().stream())
        .filteredOn(record -> record.topic().equals(harness.topics().deadLetters()))
        .hasSize(letters)
        .allMatch(record -> Arrays.equals(value, record.value()))
        .allMatch(record -> Arrays.equals(header, record.headers().lastHeader("large").value()));
    assertThat(relay.health().lastError()).isNull();
    assertThat(relay.health().terms()).isEqualTo(1);
  }

  @Test
  void aRecordThatKafkaRefusesStopsTheRelayUntilTheCauseIsGone() throws Exception {
    OutboxWriter writer = harness.writer("w");
    EventReader reader = harness.reader();
    Relay relay = harness.startRelay();
    writer.write(1);
    reader.awaitAll(writer.committed());
    setTopic("max.message.bytes", "2000");
    long large =
        writer.insert("O\tdone\t1\tw\tkey\tt\twork\tlocal\t1\tCOMPLETED\t" + noise(9_000), 1);
    writer.commit();
    writer.write(1);
    awaitError(relay, "event " + large + "-0", "too large", harness.topics().outcomes());
    assertThat(reader.poll().events()).hasSize(1);
    setTopic("max.message.bytes", "1000000");
    reader.awaitAll(writer.committed());
    reader.readToEnd();
    assertThat(reader.faults(writer)).isEmpty();
    Awaitility.await()
        .atMost(RelayHarness.PATIENCE)
        .until(() -> relay.health().lastError() == null);
  }

  @Test
  void aMissingDispatchTopicIsNamedAndFoundWhenItIsMade() {
    OutboxWriter writer = harness.writer("w");
    Relay relay =
        harness.startRelay(
            new RelayConfig(
                harness.config().ledger(),
                harness.config().kafka(),
                harness.topics(),
                harness.slot(),
                impatient()));
    writer.insert("D\tother\t17\tt\t200\t1700000000000000", 1);
    writer.commit();
    String topic = harness.topics().dispatch("other");
    awaitError(relay, "'" + topic + "' is missing");
    harness.createTopic(topic, 7, Map.of());
    try (EventReader reader = new EventReader(TestBroker.bootstrapServers(), List.of(topic))) {
      reader.awaitAll(writer.committed());
      assertThat(reader.events().getFirst().partition()).as("slot 200 mod 7").isEqualTo(4);
    }
  }

  @Test
  void anIdleOutboxDoesNotHoldBackTheLogThatOthersWrite() {
    Relay relay = harness.startRelay();
    harness.ledger().execute("create table noise (t text)");
    Awaitility.await().atMost(RelayHarness.PATIENCE).until(() -> relay.health().position() != null);
    long before = harness.ledger().number("select pg_current_wal_lsn() - '0/0'");
    for (int i = 0; i < NOISE_ROUNDS; i++) {
      harness
          .ledger()
          .execute("insert into noise select repeat('x', 1000) from generate_series(1, 2000)");
      assertThat(harness.ledger().number("select max(retained_bytes) from escapement.relay_lag"))
          .as("log kept for the slot, at any moment")
          .isLessThan(64L << 20);
    }
    assertThat(harness.ledger().number("select pg_current_wal_lsn() - '0/0'") - before)
        .as("log that others wrote")
        .isGreaterThan(LONG ? 1L << 30 : 64L << 20);
    long written = harness.ledger().number("select pg_current_wal_lsn() - '0/0'");
    Awaitility.await()
        .atMost(RelayHarness.PATIENCE)
        .until(
            () ->
                harness
                        .ledger()
                        .number(
                            "select coalesce(max(confirmed_flush_lsn - '0/0'), 0) from pg_replication_slots"
                                + " where slot_name = '"
                                + harness.slot()
                                + "'")
                    > written - RelayTuning.DEFAULT.heartbeatBytes());
    // What health says is as old as the relay's last look.
    Awaitility.await()
        .atMost(RelayHarness.PATIENCE)
        .until(() -> relay.health().lagBytes() < 8 * RelayTuning.DEFAULT.heartbeatBytes());
  }

  /** The first rows may come from the table; what follows them comes by the stream. */
  private static void awaitStream(OutboxWriter writer, EventReader reader) {
    for (int i = 0; i < 2; i++) {
      writer.write(1);
      reader.awaitAll(writer.committed());
    }
  }

  @Test
  void aRowThatIsNoneStopsTheRelayInsteadOfBeingLeftOut() {
    OutboxWriter writer = harness.writer("w");
    Relay relay = harness.startRelay();
    long id = writer.insert("?\tnonsense", 1);
    writer.commit();
    awaitError(relay, "outbox row " + id + " can't be read");
  }

  private void awaitEmptyOutbox() {
    Awaitility.await()
        .atMost(RelayHarness.PATIENCE)
        .until(() -> harness.ledger().number("select count(*) from escapement.outbox") == 0);
  }

  private static void awaitError(Relay relay, String... words) {
    Awaitility.await()
        .atMost(RelayHarness.PATIENCE)
        .untilAsserted(
            () ->
                assertThat(Optional.ofNullable(relay.health().lastError()).orElse(""))
                    .contains(words));
  }

  private void setTopic(String name, String value) throws Exception {
    try (var admin = harness.admin()) {
      admin
          .incrementalAlterConfigs(
              Map.of(
                  new ConfigResource(ConfigResource.Type.TOPIC, harness.topics().outcomes()),
                  List.of(
                      new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET))))
          .all()
          .get();
    }
  }

  /** Text that does not compress to nothing. */
  private static String noise(int length) {
    StringBuilder text = new StringBuilder(length);
    long state = 42;
    while (text.length() < length) {
      state = state * 6364136223846793005L + 1442695040888963407L;
      text.append((char) ('!' + ((state >>> 33) % 90 + 90) % 90));
    }
    return text.toString().replace('\\', '/');
  }

  /** As the defaults, but Kafka may take a second only. */
  static RelayTuning impatient() {
    RelayTuning d = RelayTuning.DEFAULT;
    return new RelayTuning(
        d.pollInterval(),
        d.queueRecords(),
        d.queueBytes(),
        d.transactionEvents(),
        d.transactionTimeout(),
        d.firstTimeout(),
        Duration.ofSeconds(3),
        d.watchInterval(),
        d.silenceLimit(),
        d.heartbeatBytes(),
        d.pruneGrace(),
        d.pruneRows(),
        d.minBackoff(),
        d.maxBackoff(),
        d.closeTimeout());
  }
}
