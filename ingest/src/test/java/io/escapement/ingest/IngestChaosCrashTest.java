package io.escapement.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.escapement.embedded.EmbeddedBroker;
import io.escapement.embedded.EmbeddedDatabase;
import io.escapement.ledger.Decision;
import io.escapement.ledger.KindDefinition;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.LedgerConfig;
import io.escapement.ledger.Migrator;
import io.escapement.ledger.OutboxEvent;
import io.escapement.ledger.OutboxRow;
import io.escapement.ledger.Role;
import io.escapement.ledger.TopicNames;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * I1 to I3 with three ingest processes under load, while they are killed and replaced, while the
 * database crashes and while the broker restarts. The random choices come from a seed that is
 * printed; {@code -Descapement.seed} sets it. {@code -Pchaos} makes it a hundred thousand records.
 */
class IngestChaosCrashTest {

  private static final Logger LOG = LoggerFactory.getLogger(IngestChaosCrashTest.class);

  private static final int RECORDS = Boolean.getBoolean("chaos") ? 100_000 : 6_000;
  private static final int FAULTS = Boolean.getBoolean("chaos") ? 12 : 3;
  private static final int PARTITIONS = 6;
  private static final int PROCESSES = 3;
  private static final String PREFIX = "chaos";
  private static final Duration LIMIT = Duration.ofMinutes(Boolean.getBoolean("chaos") ? 10 : 3);

  @TempDir private Path directory;

  private final long seed = Long.getLong("escapement.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final List<Process> children = new ArrayList<>();
  private final Set<String> produced = new HashSet<>();
  private EmbeddedBroker broker;
  private EmbeddedDatabase database;
  private LedgerConfig ledger;
  private KafkaProducer<byte[], byte[]> producer;

  /** Something bad. */
  private interface Fault {
    void happen() throws Exception;
  }

  @BeforeEach
  void start() throws Exception {
    LOG.info("-Descapement.seed={}", seed);
    broker = EmbeddedBroker.start(directory.resolve("kafka"), 0);
    database = EmbeddedDatabase.start(directory.resolve("data"), 0);
    ledger = LedgerConfig.of(database.jdbcUrl("postgres"), "postgres", "postgres");
    Migrator.migrate(ledger);
    try (Ledger operator = Ledger.connect(ledger, Role.OPERATOR)) {
      operator.defineKind(KindDefinition.local("work"), "test");
      operator.setLimits(RECORDS * 3L / 4, 1L << 40, "so that it becomes full");
    }
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
      admin
          .createTopics(
              List.of(new NewTopic(new TopicNames(PREFIX).requests(), PARTITIONS, (short) 1)))
          .all()
          .get();
    }
    producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", broker.bootstrapServers(), "linger.ms", 5),
            new ByteArraySerializer(),
            new ByteArraySerializer());
    for (int i = 0; i < PROCESSES; i++) {
      startChild();
    }
  }

  @AfterEach
  void stop() throws Exception {
    for (Process child : children) {
      child.destroyForcibly();
      child.waitFor();
    }
    producer.close(Duration.ZERO);
    broker.close();
    database.close();
  }

  @Test
  void everyRecordIsDecidedOnceWhileProcessesAreKilledStoppedAndReplaced() throws Exception {
    load(
        () -> {
          Process one = children.remove(random.nextInt(children.size()));
          if (random.nextBoolean()) {
            one.destroyForcibly();
          } else {
            one.destroy();
          }
          one.waitFor();
          startChild();
        });
    assertEachDecidedOnce();
  }

  @Test
  void everyRecordIsDecidedOnceWhileTheDatabaseCrashes() throws Exception {
    load(
        () -> {
          int port = database.port();
          long postmaster =
              Long.parseLong(
                  Files.readAllLines(directory.resolve("data").resolve("postmaster.pid"))
                      .getFirst());
          ProcessHandle server = ProcessHandle.of(postmaster).orElseThrow();
          server.destroyForcibly();
          server.onExit().get();
          database.close();
          await()
              .atMost(LIMIT)
              .ignoreExceptions()
              .until(
                  () -> {
                    database = EmbeddedDatabase.start(directory.resolve("data"), port);
                    return true;
                  });
        });
    assertEachDecidedOnce();
  }

  @Test
  void everyRecordIsDecidedOnceWhileTheBrokerRestarts() throws Exception {
    load(
        () -> {
          int port = broker.port();
          broker.close();
          broker = EmbeddedBroker.start(directory.resolve("kafka"), port);
        });
    assertEachDecidedOnce();
  }

  /** Produces the records, and lets the fault happen at random moments of their being decided. */
  private void load(Fault fault) throws Exception {
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    for (int i = 0; i < RECORDS; i++) {
      sent.add(producer.send(record(i).toProduce(random.nextInt(PARTITIONS))));
    }
    for (int i = 0; i < FAULTS; i++) {
      long most = (long) RECORDS * (i + 1) / (FAULTS + 1);
      long from = most - random.nextInt(RECORDS / (FAULTS + 1) / 2);
      await().atMost(LIMIT).ignoreExceptions().until(() -> decided() >= from);
      LOG.info("fault {} after {} records", i + 1, from);
      fault.happen();
    }
    for (Future<RecordMetadata> one : sent) {
      produced.add(coordinates(one));
    }
    await().atMost(LIMIT).ignoreExceptions().until(() -> decided() >= RECORDS);
  }

  private static String coordinates(Future<RecordMetadata> sent)
      throws ExecutionException, InterruptedException {
    return sent.get().partition() + "@" + sent.get().offset();
  }

  /** Fresh ones mostly; repeats, conflicts, and what can't be a request. */
  private RecordBuilder record(int i) {
    int kind = random.nextInt(100);
    RecordBuilder record =
        RecordBuilder.binary()
            .topic(new TopicNames(PREFIX).requests())
            .timestamp(System.currentTimeMillis())
            .with("ce_tenant", "tenant-" + random.nextInt(5));
    if (kind < 2) {
      return record.with("ce_id", "r-" + i).with("delayms", "x").without("ce_type");
    }
    if (kind < 12 && i > 100) {
      String earlier = "r-" + random.nextInt(i);
      return record.with("ce_id", earlier).with("ce_tenant", "tenant-0");
    }
    return record.with("ce_id", "r-" + i);
  }

  private void assertEachDecidedOnce() throws Exception {
    List<OutboxEvent.Receipt> receipts = receipts();
    check(receipts);
    Map<Decision, Integer> seen = new EnumMap<>(Decision.class);
    receipts.forEach(one -> seen.merge(one.decision(), 1, Integer::sum));
    LOG.info("decisions: {}", seen);
    assertThat(seen)
        .containsKeys(
            Decision.ACCEPTED,
            Decision.REPLAY,
            Decision.CONFLICT,
            Decision.INVALID,
            Decision.GLOBAL_FULL);
    assertThat(number("select count(*) from escapement.intent"))
        .as("receipts equal the ledger")
        .isEqualTo(seen.getOrDefault(Decision.ACCEPTED, 0).longValue());
    try (Ledger reader = Ledger.connect(ledger, Role.READER)) {
      assertThat(reader.audit()).isEmpty();
      assertThat(reader.status().budgets())
          .allSatisfy(one -> assertThat(one.usedTasks()).isLessThanOrEqualTo(one.maxTasks()));
    }
    List<OutboxEvent.Receipt> twice = new ArrayList<>(receipts);
    twice.add(receipts.get(random.nextInt(receipts.size())));
    assertThatThrownBy(() -> check(twice)).as("the check finds a second receipt").isNotNull();
    assertThatThrownBy(() -> check(receipts.subList(1, receipts.size())))
        .as("the check finds a missing one")
        .isNotNull();
  }

  private void check(List<OutboxEvent.Receipt> receipts) {
    Map<String, Integer> byRecord = new HashMap<>();
    receipts.forEach(one -> byRecord.merge(one.partition() + "@" + one.offset(), 1, Integer::sum));
    assertThat(byRecord).allSatisfy((record, n) -> assertThat(n).as(record).isOne());
    assertThat(byRecord.keySet()).isEqualTo(produced);
  }

  private void startChild() throws IOException {
    children.add(IngestChild.start("fenced", false, broker.bootstrapServers(), ledger, PREFIX));
  }

  private long decided() throws SQLException {
    return number("select coalesce(sum(position), 0) from escapement.ingest_position");
  }

  private long number(String sql) throws SQLException {
    try (Connection connection =
            DriverManager.getConnection(ledger.url(), ledger.user(), ledger.password());
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
    }
  }

  private List<OutboxEvent.Receipt> receipts() throws SQLException {
    List<OutboxEvent.Receipt> receipts = new ArrayList<>();
    try (Connection connection =
            DriverManager.getConnection(ledger.url(), ledger.user(), ledger.password());
        Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery("select events from escapement.outbox order by id")) {
      while (rows.next()) {
        for (OutboxEvent event : OutboxRow.parse(rows.getString(1))) {
          if (event instanceof OutboxEvent.Receipt receipt) {
            receipts.add(receipt);
          }
        }
      }
    }
    return receipts;
  }
}
