package io.escapement.dispatcher.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.escapement.ledger.LedgerConfig;
import io.escapement.ledger.TestLedger;
import io.escapement.ledger.TopicNames;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What is configured wrongly is said at the start: one line, with the setting and the cure. */
class RelayStartKafkaTest {

  private static RelayHarness harness;

  @BeforeAll
  static void open() {
    harness = RelayHarness.create();
  }

  @AfterAll
  static void close() {
    harness.close();
  }

  @Test
  void aDatabaseThatIsNotThere() {
    refuses(ledger("jdbc:postgresql://127.0.0.1:1/ledger", "me"), "ledger.url", "no PostgreSQL");
  }

  @Test
  void aDatabaseWithoutLedger() {
    try (TestLedger empty = TestLedger.createEmpty()) {
      refuses(ledger(empty.config().url(), empty.config().user()), "no ledger", "migrate");
    }
  }

  @Test
  void aServerThatIsNotSetToLogical() throws Exception {
    try (EmbeddedPostgres server =
        EmbeddedPostgres.builder().setServerConfig("wal_level", "replica").start()) {
      String url = "jdbc:postgresql://127.0.0.1:" + server.getPort() + "/postgres";
      refuses(ledger(url, "postgres"), "wal_level", "'replica'", "wal_level = logical");
    }
  }

  @Test
  void aLoginThatMayNotReplicate() {
    harness.ledger().execute("drop role if exists relay_plain; create role relay_plain login");
    refuses(ledger(harness.ledger().config().url(), "relay_plain"), "grant escapement_relay");
    harness.ledger().execute("grant escapement_relay to relay_plain");
    refuses(ledger(harness.ledger().config().url(), "relay_plain"), "alter role", "replication");
    harness.ledger().execute("alter role relay_plain replication");
    OutboxWriter writer = harness.writer("w");
    EventReader reader = harness.reader();
    writer.write(1);
    try (Relay relay = harness.startRelay(ledger(harness.ledger().config().url(), "relay_plain"))) {
      reader.awaitAll(writer.committed());
      writer.write(2);
      reader.awaitAll(writer.committed());
      assertThat(relay.health().lastError()).isNull();
    }
  }

  @Test
  void aSlotThatServesSomethingElse() {
    RelayConfig ours = harness.config();
    String taken = "taken_slot";
    harness
        .ledger()
        .column("select pg_create_logical_replication_slot('" + taken + "', 'test_decoding')");
    refuses(
        new RelayConfig(ours.ledger(), ours.kafka(), ours.topics(), taken, ours.tuning()),
        "relay.slot",
        "test_decoding");
    harness.ledger().column("select pg_drop_replication_slot('" + taken + "')");
  }

  @Test
  void brokersThatAreNotThere() {
    RelayConfig config =
        new RelayConfig(
            harness.ledger().config(),
            Map.of("bootstrap.servers", "127.0.0.1:1"),
            harness.topics(),
            harness.slot(),
            RelayKafkaTest.impatient());
    refuses(config, "kafka.bootstrap-servers", "127.0.0.1:1");
  }

  @Test
  void topicsThatAreMissingOrWouldForget() {
    RelayConfig config = withTopics(new TopicNames("nowhere"));
    refuses(config, "nowhere.", "missing");
    TopicNames topics = new TopicNames("forgetful");
    for (String topic :
        List.of(
            topics.relayPosition(), topics.receipts(), topics.outcomes(), topics.deadLetters())) {
      harness.createTopic(topic, 1, Map.of());
    }
    refuses(withTopics(topics), "forgetful.relay-position", "cleanup.policy=compact");
  }

  private static RelayConfig withTopics(TopicNames topics) {
    RelayConfig config = harness.config();
    return new RelayConfig(config.ledger(), config.kafka(), topics, config.slot(), config.tuning());
  }

  private static RelayConfig ledger(String url, String user) {
    RelayConfig config = harness.config();
    return new RelayConfig(
        LedgerConfig.of(url, user, "postgres"),
        config.kafka(),
        config.topics(),
        config.slot(),
        config.tuning());
  }

  private static void refuses(RelayConfig config, String... words) {
    try (Relay relay = new Relay(config)) {
      assertThatThrownBy(relay::start)
          .isInstanceOf(RelayFailedException.class)
          .hasMessageNotContaining("\n")
          .satisfies(e -> assertThat(e.getMessage()).contains(words));
      assertThat(relay.health().role()).isEqualTo(RelayHealth.Role.STOPPED);
    }
  }
}
