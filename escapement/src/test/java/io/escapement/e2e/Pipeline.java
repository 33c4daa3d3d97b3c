package io.escapement.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.escapement.e2e.Distribution.Result;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.Role;
import io.escapement.ledger.TopicNames;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * A ledger and topics of a test's own on real servers, and what a test needs to use and to check
 * them: the parts run as processes, what they did is read from Kafka and by SQL.
 */
final class Pipeline implements AutoCloseable {

  static final Duration LIMIT = Duration.ofSeconds(60);

  private static final ObjectMapper JSON = new ObjectMapper();

  private final TestServers servers;
  private final String name;
  private final Distribution distribution;
  private final KafkaProducer<String, String> producer;

  private Pipeline(TestServers servers, String name, Distribution distribution) {
    this.servers = servers;
    this.name = name;
    this.distribution = distribution;
    this.producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", servers.bootstrapServers()),
            new StringSerializer(),
            new StringSerializer());
  }

  /**
   * Creates a database, a ledger in it and its topics. The parts are those of the slim
   * distribution: what they need must be in it.
   */
  static Pipeline create(TestServers servers, String suffix, Path scratch) throws Exception {
    String name = servers.name() + "_" + suffix;
    servers.execute("create database " + name);
    Distribution distribution =
        servers
            .slim(scratch)
            .with("ESCAPEMENT_LEDGER_URL", servers.jdbcUrl(name))
            .with("ESCAPEMENT_TOPICS_PREFIX", name)
            .with("ESCAPEMENT_RELAY_SLOT", name)
            .with("ESCAPEMENT_DISPATCHER_SWEEP", "250ms")
            .with("ESCAPEMENT_DISPATCHER_DRAIN_LIMIT", "5s")
            .with("ESCAPEMENT_CLASSPATH", Path.of("target/test-classes").toAbsolutePath() + "");
    Pipeline pipeline = new Pipeline(servers, name, distribution);
    Result migrated = distribution.run("migrate");
    assertThat(migrated.exit()).as(migrated.err()).isZero();
    return pipeline;
  }

  Distribution distribution() {
    return distribution;
  }

  TopicNames topics() {
    return new TopicNames(name);
  }

  PartProcess ingest() throws Exception {
    return PartProcess.start(distribution, "ingest runs", "ingest");
  }

  PartProcess relay() throws Exception {
    return PartProcess.start(distribution, "relay runs", "relay");
  }

  PartProcess dispatcher() throws Exception {
    return PartProcess.start(distribution, "dispatcher runs", "dispatch");
  }

  /** Does what an operator does. */
  void operate(Consumer<Ledger> work) {
    try (Ledger ledger = Ledger.connect(servers.ledger(name).withPoolSize(2), Role.OPERATOR)) {
      work.accept(ledger);
    }
  }

  /** Sends structured events to the shared requests topic, keyed by what they are. */
  List<RecordMetadata> send(Collection<Event> events) throws Exception {
    List<java.util.concurrent.Future<RecordMetadata>> answers = new ArrayList<>();
    for (Event event : events) {
      answers.add(
          producer.send(new ProducerRecord<>(topics().requests(), event.id(), event.json())));
    }
    List<RecordMetadata> sent = new ArrayList<>();
    for (var answer : answers) {
      sent.add(answer.get(LIMIT.toSeconds(), TimeUnit.SECONDS));
    }
    return sent;
  }

  List<RecordMetadata> send(Event... events) throws Exception {
    return send(List.of(events));
  }

  /** Sends a command in structured mode. */
  RecordMetadata command(String id, String type, String arguments) throws Exception {
    String event =
        "{\"specversion\":\"1.0\",\"source\":\"/operators/e2e\",\"id\":\"%s\",\"type\":\"%s\",\"data\":%s}"
            .formatted(id, type, arguments);
    return producer
        .send(new ProducerRecord<>(topics().commands(), event))
        .get(LIMIT.toSeconds(), TimeUnit.SECONDS);
  }

  /** Every record of a topic that readers of committed records see by now. */
  List<JsonNode> read(String topic) throws Exception {
    Map<String, Object> properties = new HashMap<>();
    properties.put("bootstrap.servers", servers.bootstrapServers());
    properties.put("isolation.level", "read_committed");
    List<JsonNode> read = new ArrayList<>();
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      List<TopicPartition> partitions =
          consumer.partitionsFor(topic).stream()
              .map(info -> new TopicPartition(topic, info.partition()))
              .toList();
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      Map<TopicPartition, Long> end = consumer.endOffsets(partitions);
      while (end.entrySet().stream().anyMatch(e -> consumer.position(e.getKey()) < e.getValue())) {
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
          read.add(JSON.readTree(new String(record.value(), StandardCharsets.UTF_8)));
        }
      }
    }
    return read;
  }

  /** The decisions on some records, in their order; empty for one that has no receipt yet. */
  List<List<String>> decisions(List<RecordMetadata> sent) throws Exception {
    List<JsonNode> receipts = read(topics().receipts());
    List<List<String>> decisions = new ArrayList<>();
    for (RecordMetadata record : sent) {
      decisions.add(
          receipts.stream()
              .filter(
                  r ->
                      r.get("topic").asText().equals(record.topic())
                          && r.get("partition").asInt() == record.partition()
                          && r.get("offset").asLong() == record.offset())
              .map(r -> r.get("decision").asText())
              .toList());
    }
    return decisions;
  }

  /** Waits until each record has a receipt; returns the decisions. More than one is a failure. */
  List<String> awaitDecisions(List<RecordMetadata> sent) throws Exception {
    await("a receipt for each of " + sent.size() + " records")
        .atMost(LIMIT)
        .until(() -> decisions(sent).stream().noneMatch(List::isEmpty));
    List<List<String>> decisions = decisions(sent);
    assertThat(decisions).allSatisfy(each -> assertThat(each).hasSize(1));
    return decisions.stream().map(each -> each.get(0)).toList();
  }

  /** The changes that were told of an event's tasks, in order. */
  List<String> changes(Event event) throws Exception {
    return read(topics().outcomes()).stream()
        .filter(outcome -> outcome.get("id").asText().equals(event.id()))
        .map(outcome -> outcome.get("change").asText())
        .toList();
  }

  /** Waits until a query answers with a number. */
  void awaitNumber(String sql, long expected) {
    await(sql).atMost(LIMIT).until(() -> number(sql), found -> found == expected);
  }

  long number(String sql) throws Exception {
    return Long.parseLong(text(sql));
  }

  /** The one value that a query answers with, read as the database's owner. */
  String text(String sql) throws Exception {
    return servers.text(name, sql);
  }

  /** Changes tables of the test's own. */
  void execute(String sql) throws Exception {
    servers.execute(name, sql);
  }

  /** Runs the audit as its users do; it must find nothing. */
  void assertAuditFindsNothing() throws Exception {
    Result audit = distribution.run("audit");
    assertThat(audit.exit()).as(audit.out() + audit.err()).isZero();
    assertThat(audit.out()).isEqualTo("audit: nothing found\n");
  }

  @Override
  public void close() {
    producer.close(Duration.ofSeconds(1));
  }

  /**
   * A request.
   *
   * @param more further members, with a comma before each
   */
  record Event(String id, String tenant, String kind, String subject, String more) {
    static Event of(String id, String tenant, String kind) {
      return new Event(id, tenant, kind, "nobody", "");
    }

    Event with(String members) {
      return new Event(id, tenant, kind, subject, more + "," + members);
    }

    Event about(String newSubject) {
      return new Event(id, tenant, kind, newSubject, more);
    }

    String json() {
      return "{\"specversion\":\"1.0\",\"source\":\"/e2e\",\"id\":\"%s\",\"tenant\":\"%s\",\"type\":\"%s\",\"subject\":\"%s\"%s}"
          .formatted(id, tenant, kind, subject, more);
    }
  }
}
