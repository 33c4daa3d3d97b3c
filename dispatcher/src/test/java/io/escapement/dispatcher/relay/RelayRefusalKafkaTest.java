package io.escapement.dispatcher.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.escapement.embedded.EmbeddedBroker;
import io.escapement.ledger.TestLedger;
import io.escapement.ledger.TopicNames;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What Kafka does not take stops the relay, with a word on what to change; it neither skips nor
 * spins, and goes on by itself when the cause is gone.
 */
class RelayRefusalKafkaTest {

  private static final AtomicInteger PREFIX = new AtomicInteger();

  @TempDir static Path directory;
  private static EmbeddedBroker broker;
  private static Admin admin;

  private final List<AutoCloseable> open = new ArrayList<>();
  private TestLedger ledger;
  private TopicNames topics;
  private RelayConfig config;
  private OutboxWriter writer;

  @BeforeAll
  static void startBroker() {
    broker =
        EmbeddedBroker.start(
            directory,
            0,
            Map.of(
                "authorizer.class.name",
                "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                "allow.everyone.if.no.acl.found",
                "true"));
    admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()));
  }

  @AfterAll
  static void stopBroker() {
    admin.close();
    broker.close();
  }

  @BeforeEach
  void prepare() throws Exception {
    ledger = TestLedger.create();
    topics = new TopicNames("refusal" + PREFIX.incrementAndGet());
    for (String topic : List.of(topics.receipts(), topics.outcomes(), topics.deadLetters())) {
      create(topic, Map.of());
    }
    create(topics.relayPosition(), Map.of("cleanup.policy", "compact"));
    RelayTuning d = RelayKafkaTest.impatient();
    config =
        new RelayConfig(
            ledger.config(),
            Map.of("bootstrap.servers", broker.bootstrapServers()),
            topics,
            topics.prefix(),
            d);
    writer = new OutboxWriter(ledger, "w");
    open.add(writer);
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable one : open.reversed()) {
      one.close();
    }
    RelayHarness.dropSlot(ledger, config.slot());
    ledger.close();
  }

  @Test
  void aTopicThatItMayNotWriteIsNamedAndWaitedFor() throws Exception {
    EventReader reader = reader();
    Relay relay = relayOne(reader);
    AclBinding denied =
        new AclBinding(
            new ResourcePattern(ResourceType.TOPIC, topics.outcomes(), PatternType.LITERAL),
            new AccessControlEntry("User:*", "*", AclOperation.WRITE, AclPermissionType.DENY));
    admin.createAcls(List.of(denied)).all().get();
    writer.write(2);
    awaitError(relay, topics.outcomes(), "ACL");
    doesNotSpin(relay);
    admin.deleteAcls(List.of(denied.toFilter())).all().get();
    heals(relay, reader);
  }

  @Test
  void aTopicThatIsDeletedIsNamedAndWaitedFor() throws Exception {
    EventReader before = reader();
    Relay relay = relayOne(before);
    admin.deleteTopics(List.of(topics.outcomes())).all().get();
    Awaitility.await().atMost(RelayHarness.PATIENCE).until(() -> !exists(topics.outcomes()));
    long next = writer.insert(1);
    writer.commit();
    awaitError(relay, "'" + topics.outcomes() + "' is missing", "escapement migrate");
    doesNotSpin(relay);
    create(topics.outcomes(), Map.of());
    EventReader reader = reader();
    reader.awaitAll(List.of(next + "-0"));
    Awaitility.await()
        .atMost(RelayHarness.PATIENCE)
        .until(() -> relay.health().lastError() == null);
  }

  @Test
  void aRelayThatCouldNotPassOnTheLargestDeadLetterDoesNotStart() throws Exception {
    set(topics.deadLetters(), "max.message.bytes", "300000");
    try (Relay relay = new Relay(config)) {
      assertThatThrownBy(relay::start)
          .hasMessageContaining(topics.deadLetters())
          .hasMessageContaining("max.message.bytes=300000")
          .hasMessageContaining("raise it");
    }
    set(topics.deadLetters(), "max.message.bytes", "1048588");
    RelayConfig narrow =
        new RelayConfig(
            config.ledger(),
            Map.of("bootstrap.servers", broker.bootstrapServers(), "max.request.size", "400000"),
            topics,
            config.slot(),
            config.tuning());
    try (Relay relay = new Relay(narrow)) {
      assertThatThrownBy(relay::start).hasMessageContaining("kafka.max.request.size is 400000");
    }
  }

  private Relay relayOne(EventReader reader) {
    Relay relay = new Relay(config);
    open.add(relay);
    relay.start();
    for (int i = 0; i < 2; i++) {
      writer.write(1);
      reader.awaitAll(writer.committed());
    }
    return relay;
  }

  private void heals(Relay relay, EventReader reader) {
    reader.awaitAll(writer.committed());
    reader.readToEnd();
    assertThat(reader.faults(writer)).isEmpty();
    Awaitility.await()
        .atMost(RelayHarness.PATIENCE)
        .until(() -> relay.health().lastError() == null);
  }

  /** The pauses grow, so that a fault that stays costs next to nothing. */
  private static void doesNotSpin(Relay relay) {
    long terms = relay.health().terms();
    Awaitility.await()
        .pollDelay(Duration.ofSeconds(4))
        .atMost(RelayHarness.PATIENCE)
        .until(() -> true);
    assertThat(relay.health().terms() - terms).isLessThanOrEqualTo(8);
    assertThat(relay.health().lastError()).isNotNull();
  }

  private static void awaitError(Relay relay, String... words) {
    Awaitility.await()
        .atMost(RelayHarness.PATIENCE)
        .untilAsserted(
            () ->
                assertThat(Optional.ofNullable(relay.health().lastError()).orElse(""))
                    .contains(words));
  }

  private EventReader reader() {
    EventReader reader = new EventReader(broker.bootstrapServers(), List.of(topics.outcomes()));
    open.add(reader);
    return reader;
  }

  private static void create(String topic, Map<String, String> settings) throws Exception {
    admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1).configs(settings))).all().get();
    Awaitility.await().atMost(RelayHarness.PATIENCE).until(() -> exists(topic));
  }

  private static boolean exists(String topic) throws Exception {
    try {
      admin.describeTopics(List.of(topic)).allTopicNames().get();
      return true;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof UnknownTopicOrPartitionException) {
        return false;
      }
      throw e;
    }
  }

  private static void set(String topic, String name, String value) throws Exception {
    admin
        .incrementalAlterConfigs(
            Map.of(
                new ConfigResource(ConfigResource.Type.TOPIC, topic),
                List.of(new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET))))
        .all()
        .get();
  }
}
