package io.escapement.dispatcher.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.embedded.EmbeddedDatabase;
import io.escapement.ledger.KindDefinition;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.LedgerConfig;
import io.escapement.ledger.Migrator;
import io.escapement.ledger.Role;
import io.escapement.ledger.TopicNames;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/**
 * The server loses what the slot held, or becomes another one: every row that is still in the table
 * comes again, marked, and dispatchers are told.
 */
class RelayHistoryKafkaTest {

  private static final String SLOT = "history_slot";
  private static final int PARTITIONS = 2;

  @TempDir Path directory;

  private TopicNames topics;
  private EmbeddedDatabase database;
  private RelayConfig config;
  private EventReader reader;

  @BeforeEach
  void open(TestInfo test) throws Exception {
    topics = new TopicNames(test.getTestMethod().orElseThrow().getName());
    database = start("first", 0);
    prepare();
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", TestBroker.bootstrapServers()))) {
      admin
          .createTopics(
              List.of(
                  new NewTopic(topics.receipts(), 1, (short) 1),
                  new NewTopic(topics.outcomes(), 1, (short) 1),
                  new NewTopic(topics.deadLetters(), 1, (short) 1),
                  new NewTopic(topics.dispatch("default"), PARTITIONS, (short) 1),
                  new NewTopic(topics.relayPosition(), 1, (short) 1)
                      .configs(Map.of("cleanup.policy", "compact"))))
          .all()
          .get();
    }
    reader =
        new EventReader(
            TestBroker.bootstrapServers(), List.of(topics.outcomes(), topics.dispatch("default")));
  }

  @AfterEach
  void close() throws IOException {
    reader.close();
    database.close();
  }

  @Test
  void aPromotedServerIsANewHistory() throws Exception {
    List<String> before = relaySome(3);
    List<String> unsent = write(2);
    int port = database.port();
    database.close();
    Files.createFile(directory.resolve("first").resolve("standby.signal"));
    database = start("first", port);
    database.number("ledger", "select pg_promote()::int");
    List<String> after = write(1);
    awaitRepeated(before, unsent, after);
  }

  @Test
  void anotherServerUnderTheSameAddressIsANewHistory() throws Exception {
    relaySome(3);
    int port = database.port();
    database.close();
    database = start("second", port);
    prepare();
    List<String> there = write(2);
    awaitRepeated(List.of(), List.of(), there);
  }

  @Test
  void aSlotWhoseLogWasRemovedIsMadeAnew() throws Exception {
    List<String> before = relaySome(3);
    List<String> unsent = write(2);
    database.execute("ledger", "create table noise (t text)");
    Awaitility.await()
        .atMost(RelayHarness.PATIENCE)
        .until(
            () -> {
              database.execute(
                  "ledger",
                  "insert into noise select repeat('x', 1000) from generate_series(1, 30000)");
              database.execute("ledger", "select pg_switch_wal()");
              database.execute("ledger", "checkpoint");
              return database.number(
                      "ledger",
                      "select count(*) from pg_replication_slots where wal_status = 'lost'")
                  == 1;
            });
    awaitRepeated(before, unsent, List.of());
  }

  /** Relays a few rows and stops; answers with their events. */
  private List<String> relaySome(int rows) {
    try (Relay relay = new Relay(config)) {
      relay.start();
      Awaitility.await()
          .atMost(RelayHarness.PATIENCE)
          .until(() -> relay.health().position() != null);
      List<String> ids = write(rows);
      reader.awaitAll(ids);
      assertThat(reader.events()).noneMatch(EventReader.Event::repeated);
      return ids;
    }
  }

  /**
   * Relays again: all of these are read, marked; dispatchers are told; then it goes on as usual.
   */
  private void awaitRepeated(List<String> before, List<String> unsent, List<String> after) {
    List<String> expected = new ArrayList<>(before);
    expected.addAll(unsent);
    expected.addAll(after);
    try (Relay relay = new Relay(config)) {
      relay.start();
      Awaitility.await()
          .atMost(RelayHarness.PATIENCE)
          .untilAsserted(
              () ->
                  assertThat(
                          reader.poll().events().stream()
                              .filter(EventReader.Event::repeated)
                              .map(EventReader.Event::id))
                      .containsExactlyElementsOf(expected));
      Awaitility.await().atMost(RelayHarness.PATIENCE).until(() -> reloads() == PARTITIONS);
      List<String> next = write(1);
      reader.awaitAll(next);
      assertThat(reader.events().stream().filter(event -> event.id().equals(next.get(0))))
          // Another server begins to count anew, so an id may have been told before.
          .isNotEmpty()
          .noneMatch(EventReader.Event::repeated);
    }
  }

  private long reloads() {
    reader.poll();
    return reader.records().stream()
        .filter(record -> record.topic().equals(topics.dispatch("default")))
        .filter(RelayHistoryKafkaTest::isReload)
        .map(ConsumerRecord::partition)
        .distinct()
        .count();
  }

  private static boolean isReload(ConsumerRecord<byte[], byte[]> record) {
    return EventReader.header(record, "ce_type").equals("io.escapement.dispatch.reload");
  }

  private EmbeddedDatabase start(String name, int port) {
    return EmbeddedDatabase.start(
        directory.resolve(name),
        port,
        Map.of("max_slot_wal_keep_size", "32MB", "fsync", "off", "hot_standby", "on"));
  }

  private void prepare() {
    database.createDatabase("ledger");
    config =
        new RelayConfig(
            LedgerConfig.of(
                database.jdbcUrl("ledger"), EmbeddedDatabase.USER, EmbeddedDatabase.USER),
            Map.of("bootstrap.servers", TestBroker.bootstrapServers()),
            topics,
            SLOT,
            RelayTuning.DEFAULT.withPruneGrace(Duration.ofHours(1)));
    Migrator.migrate(config.ledger());
    try (Ledger operator = Ledger.connect(config.ledger(), Role.OPERATOR)) {
      operator.defineKind(KindDefinition.local("work"), "test");
    }
  }

  /** Commits rows of one event each; answers with the events. */
  private List<String> write(int rows) {
    try (Connection connection =
            DriverManager.getConnection(
                database.jdbcUrl("ledger"), EmbeddedDatabase.USER, EmbeddedDatabase.USER);
        OutboxWriter writer = new OutboxWriter(connection, "w")) {
      for (int i = 0; i < rows; i++) {
        writer.write(1);
      }
      return writer.committed();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
