package io.escapement.ingest;

import io.escapement.ledger.Ledger;
import io.escapement.ledger.TopicNames;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The consumer of requests, or of commands, put together: one consumer, one loop, two threads.
 *
 * <p>Cost: one connection of the ledger's pool while a batch is decided. Thread rule: start and
 * close once; {@link #stats} and {@link #health} from any thread. Failure: what is wrong with the
 * configuration surfaces as {@link IngestException} before anything runs; later failures are
 * survived and shown by {@link #health}.
 */
public final class IngestAssembly implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(IngestAssembly.class);

  private static final int FETCH_BYTES = 16 * 1024 * 1024;
  private static final int PARTITION_FETCH_BYTES = 4 * 1024 * 1024;

  /** How soon a tenant's new topic is found. */
  private static final Duration METADATA_AGE = Duration.ofSeconds(30);

  private final IngestStats stats;
  private final Admin admin;
  private final IngestLoop loop;
  private final IngestRunner runner;
  private final IngestMetrics metrics;

  /**
   * Checks what the consumer of requests needs of Kafka and puts it together; {@link #start} sets
   * it going.
   *
   * @param ledger connected under {@link io.escapement.ledger.Role#INGEST}; stays the caller's
   * @param kafka client properties: where Kafka is, security, timeouts; what ingest's promises
   *     depend on can't be set there
   * @param topics the names of the topics; of tenants' own topics those that exist by then or later
   * @throws IngestException with one line that names the setting and the cure
   */
  public static IngestAssembly ofRequests(
      Ledger ledger, Map<String, ?> kafka, TopicNames topics, IngestConfig config) {
    return ofRequests(ledger, kafka, topics, config, UnaryOperator.identity());
  }

  /** The same with the consumer seen through something. */
  static IngestAssembly ofRequests(
      Ledger ledger,
      Map<String, ?> kafka,
      TopicNames topics,
      IngestConfig config,
      UnaryOperator<Consumer<byte[], byte[]>> lens) {
    String topic = topics.requests();
    IngestStats stats = new IngestStats();
    // The shared topic and every tenant's own.
    Pattern all = Pattern.compile(Pattern.quote(topic) + "(\\.[A-Za-z0-9._-]+)?");
    Decider decider = new Admitter(ledger, topic, stats);
    return new IngestAssembly(
        "ingest", ledger, kafka, topic, "", all, decider, config, stats, lens);
  }

  /**
   * The same for commands. Whoever may write their topic is an operator, as far as this goes:
   * Kafka's ACLs have to say who that is.
   *
   * @param ledger connected under {@link io.escapement.ledger.Role#OPERATOR}; stays the caller's
   * @param config its batches have one record
   */
  public static IngestAssembly ofCommands(
      Ledger ledger, Map<String, ?> kafka, TopicNames topics, IngestConfig config) {
    return ofCommands(ledger, kafka, topics, config, UnaryOperator.identity());
  }

  /** The same with the consumer seen through something. */
  static IngestAssembly ofCommands(
      Ledger ledger,
      Map<String, ?> kafka,
      TopicNames topics,
      IngestConfig config,
      UnaryOperator<Consumer<byte[], byte[]>> lens) {
    String topic = topics.commands();
    IngestStats stats = new IngestStats();
    return new IngestAssembly(
        "commands",
        ledger,
        kafka,
        topic,
        ", or set ingest.commands=false",
        Pattern.compile(Pattern.quote(topic)),
        new CommandDecider(ledger, stats),
        config,
        stats,
        lens);
  }

  private IngestAssembly(
      String name,
      Ledger ledger,
      Map<String, ?> kafka,
      String topic,
      String otherCure,
      Pattern pattern,
      Decider decider,
      IngestConfig config,
      IngestStats stats,
      UnaryOperator<Consumer<byte[], byte[]>> lens) {
    LOG.info("{} of {}: {}", name, topic, config);
    this.stats = stats;
    MetadataWatch metadata = new MetadataWatch();
    Admin connected = connect(kafka);
    try {
      check(connected, kafka, topic, otherCure, config);
      TopicFacts facts = new TopicFacts(connected, config.kafkaTimeout());
      Consumer<byte[], byte[]> consumer = lens.apply(consumer(kafka, config, metadata));
      this.loop =
          new IngestLoop(consumer, metadata, facts, ledger, decider, pattern, topic, config, stats);
    } catch (RuntimeException e) {
      connected.close(Duration.ZERO);
      throw e;
    }
    this.admin = connected;
    this.runner = new IngestRunner(name, loop);
    this.metrics = new IngestMetrics(config.group(), stats, loop::health);
  }

  /** Starts the thread. */
  public void start() {
    runner.start();
  }

  /** What was decided so far. */
  public IngestStats stats() {
    return stats;
  }

  /** How it is. */
  public IngestHealth health() {
    return loop.health();
  }

  /** Decides the batch in hand, leaves the group and ends the thread. */
  @Override
  public void close() {
    metrics.close();
    runner.close();
    admin.close(Duration.ZERO);
  }

  /** The loop, for who turns it without the thread. */
  IngestLoop loop() {
    return loop;
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

  private static void check(
      Admin admin, Map<String, ?> kafka, String topic, String otherCure, IngestConfig config) {
    Object servers = kafka.get(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG);
    try {
      admin
          .describeCluster()
          .clusterId()
          .get(config.kafkaTimeout().toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new IngestException(
          "kafka.bootstrap-servers is '%s'; no broker answered within %d ms: start Kafka there or correct the setting (%s)"
              .formatted(servers, config.kafkaTimeout().toMillis(), rootMessage(e)),
          e);
    } catch (InterruptedException e) {
      throw new InterruptException(e);
    }
    try {
      if (!new TopicFacts(admin, config.kafkaTimeout()).ids(List.of(topic)).containsKey(topic)) {
        throw new IngestException(
            "topics.prefix leads to the topic '%s', which Kafka does not have; create it with: escapement migrate, or correct the prefix%s"
                .formatted(topic, otherCure));
      }
    } catch (KafkaException e) {
      throw new IngestException(
          "topics.prefix leads to the topic '%s', which can't be looked at: %s; correct the prefix, or allow this user to describe it%s"
              .formatted(topic, rootMessage(e), otherCure),
          e);
    }
  }

  private static KafkaConsumer<byte[], byte[]> consumer(
      Map<String, ?> kafka, IngestConfig config, MetadataWatch metadata) {
    Map<String, Object> properties = new HashMap<>();
    properties.put(ConsumerConfig.METADATA_MAX_AGE_CONFIG, (int) METADATA_AGE.toMillis());
    properties.put(ConsumerConfig.FETCH_MAX_BYTES_CONFIG, FETCH_BYTES);
    properties.put(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, PARTITION_FETCH_BYTES);
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
    properties.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, config.batchRecords());
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
