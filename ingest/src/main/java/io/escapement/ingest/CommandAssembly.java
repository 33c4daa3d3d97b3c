package io.escapement.ingest;

import io.escapement.ledger.Ledger;
import io.escapement.ledger.TopicNames;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The consumer of commands, put together: one consumer in a group of its own, one loop, one thread.
 *
 * <p>Whoever may write the commands topic is an operator, as far as this goes: Kafka's ACLs have to
 * say who that is. Cost: one connection of the ledger's pool while a command is executed. Thread
 * rule: start and close once; {@link #stats} and {@link #health} from any thread. Failure: what is
 * wrong with the configuration surfaces as {@link IngestException} before anything runs; later
 * failures are survived and shown by {@link #health}.
 */
public final class CommandAssembly implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(CommandAssembly.class);

  /** How soon a topic that was created again is noticed at the latest. */
  private static final Duration METADATA_AGE = Duration.ofSeconds(30);

  private final CommandStats stats = new CommandStats();
  private final Admin admin;
  private final CommandLoop loop;
  private final CommandRunner runner;

  /**
   * Checks what commands need of Kafka and puts it together; {@link #start} sets it going.
   *
   * @param ledger connected under {@link io.escapement.ledger.Role#OPERATOR}; stays the caller's
   * @param kafka client properties: where Kafka is, security, timeouts; what the promises depend on
   *     can't be set there
   * @throws IngestException with one line that names the setting and the cure
   */
  public CommandAssembly(
      Ledger ledger, Map<String, ?> kafka, TopicNames topics, CommandConfig config) {
    this(ledger, kafka, topics, config, UnaryOperator.identity());
  }

  /** The same with the consumer seen through something. */
  CommandAssembly(
      Ledger ledger,
      Map<String, ?> kafka,
      TopicNames topics,
      CommandConfig config,
      UnaryOperator<Consumer<byte[], byte[]>> lens) {
    String topic = topics.commands();
    LOG.info("commands of {}: {}", topic, config);
    MetadataWatch metadata = new MetadataWatch();
    Admin connected = connect(kafka);
    try {
      TopicFacts facts = new TopicFacts(connected, config.kafkaTimeout());
      requireTopic(facts, topic);
      Consumer<byte[], byte[]> consumer = lens.apply(consumer(kafka, config, metadata));
      this.loop = new CommandLoop(consumer, metadata, facts, ledger, topic, config, stats);
    } catch (RuntimeException e) {
      connected.close(Duration.ZERO);
      throw e;
    }
    this.admin = connected;
    this.runner = new CommandRunner(loop);
  }

  /** Starts the thread. */
  public void start() {
    runner.start();
  }

  /** What was decided so far. */
  public CommandStats stats() {
    return stats;
  }

  /** How it is. */
  public CommandHealth health() {
    return loop.health();
  }

  /** Ends the command in hand, leaves the group and ends the thread. */
  @Override
  public void close() {
    runner.close();
    admin.close(Duration.ZERO);
  }

  private static Admin connect(Map<String, ?> kafka) {
    Map<String, Object> properties = new HashMap<>(kafka);
    properties.keySet().retainAll(AdminClientConfig.configNames());
    try {
      return Admin.create(properties);
    } catch (KafkaException e) {
      throw new IngestException("kafka: " + rootMessage(e) + "; correct the client setting", e);
    }
  }

  private static void requireTopic(TopicFacts facts, String topic) {
    try {
      if (!facts.ids(List.of(topic)).containsKey(topic)) {
        throw new IngestException(
            "topics.prefix leads to the topic '%s', which Kafka does not have; create it with: escapement migrate (or correct the prefix), or set ingest.commands=false"
                .formatted(topic));
      }
    } catch (KafkaException e) {
      throw new IngestException(
          "topics.prefix leads to the topic '%s', which can't be looked at: %s; correct the prefix, allow this user to describe it, or set ingest.commands=false"
              .formatted(topic, rootMessage(e)),
          e);
    }
  }

  private static KafkaConsumer<byte[], byte[]> consumer(
      Map<String, ?> kafka, CommandConfig config, MetadataWatch metadata) {
    Map<String, Object> properties = new HashMap<>();
    properties.put(ConsumerConfig.METADATA_MAX_AGE_CONFIG, (int) METADATA_AGE.toMillis());
    if (!"consumer"
        .equalsIgnoreCase(String.valueOf(kafka.get(ConsumerConfig.GROUP_PROTOCOL_CONFIG)))) {
      // The newer protocol leaves the assignment to the broker and refuses this setting.
      properties.put(
          ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG,
          CooperativeStickyAssignor.class.getName());
      // So long are the partitions of a killed process nobody's.
      properties.put(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, 10_000);
      properties.put(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG, 3_000);
    }
    properties.putAll(kafka);
    properties.keySet().retainAll(ConsumerConfig.configNames());
    properties.put(ConsumerConfig.GROUP_ID_CONFIG, config.group());
    // Each may wait for locks: what a poll brings has to be done well before the next is due.
    properties.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 1);
    properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
    // Where the ledger has no position the loop says "from the beginning"; nothing else may jump.
    properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
    properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
    properties.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
    try {
      return new KafkaConsumer<>(properties, new MetadataWatch(), metadata);
    } catch (KafkaException e) {
      throw new IngestException("kafka: " + rootMessage(e) + "; correct the client setting", e);
    }
  }

  private static String rootMessage(Throwable failure) {
    Throwable root = failure;
    for (Throwable c = failure.getCause(); c != null; c = c.getCause()) {
      root = c;
    }
    String message = root.getMessage();
    return message == null ? root.toString() : message;
  }
}
