package io.escapement.ingest;

import io.escapement.embedded.EmbeddedBroker;
import io.escapement.ledger.Decision;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.OutboxEvent;
import io.escapement.ledger.OutboxRow;
import io.escapement.ledger.Role;
import io.escapement.ledger.TestLedger;
import io.escapement.ledger.TopicNames;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A ledger and topics of a test's own, on a PostgreSQL server and a Kafka broker that all tests of
 * one JVM share.
 */
final class IngestFixture implements AutoCloseable {

  private static final AtomicInteger NEXT = new AtomicInteger();

  private final TestLedger database = TestLedger.create();
  private final TopicNames topics = new TopicNames("test" + NEXT.incrementAndGet());
  private final Admin admin;
  private final KafkaProducer<byte[], byte[]> producer;
  private final List<IngestAssembly> open = new ArrayList<>();

  /** With the shared requests topic. */
  IngestFixture(int partitions) {
    admin = Admin.create(Map.of("bootstrap.servers", bootstrap()));
    producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", bootstrap(), "linger.ms", 5),
            new ByteArraySerializer(),
            new ByteArraySerializer());
    createTopic(topic(), partitions);
  }

  static String bootstrap() {
    return Broker.INSTANCE.bootstrapServers();
  }

  /** Client properties that let a test see things happen soon. */
  Map<String, Object> kafka() {
    Map<String, Object> properties = new HashMap<>();
    properties.put("bootstrap.servers", bootstrap());
    properties.put("metadata.max.age.ms", 500);
    properties.put("session.timeout.ms", 6_000);
    properties.put("heartbeat.interval.ms", 500);
    return properties;
  }

  String topic() {
    return topics.requests();
  }

  String prefix() {
    return topics.prefix();
  }

  String group() {
    return config().group();
  }

  TestLedger database() {
    return database;
  }

  Admin admin() {
    return admin;
  }

  IngestConfig config() {
    return IngestConfig.of(topics).withBatchRecords(100);
  }

  /** Waits on the shared topic when a budget is full. */
  IngestConfig holding() {
    return config().withHoldTopics(Set.of(topic()));
  }

  /** An ingest that runs until the test ends. */
  IngestAssembly ingest() {
    return ingest(kafka(), UnaryOperator.identity());
  }

  /** The same configured so. */
  IngestAssembly ingest(IngestConfig config) {
    return ingest(kafka(), config, UnaryOperator.identity());
  }

  IngestAssembly ingest(Map<String, Object> kafka, UnaryOperator<Consumer<byte[], byte[]>> lens) {
    return ingest(kafka, config(), lens);
  }

  private IngestAssembly ingest(
      Map<String, Object> kafka,
      IngestConfig config,
      UnaryOperator<Consumer<byte[], byte[]>> lens) {
    Ledger ledger = database.connect(Role.INGEST);
    IngestAssembly ingest = IngestAssembly.ofRequests(ledger, kafka, topics, config, lens);
    open.add(ingest);
    ingest.start();
    return ingest;
  }

  void createTopic(String name, int partitions) {
    get(() -> admin.createTopics(List.of(new NewTopic(name, partitions, (short) 1))).all().get());
  }

  void deleteTopic(String name) {
    get(() -> admin.deleteTopics(List.of(name)).all().get());
  }

  /** Sends records and waits until Kafka has them. */
  void produce(int partition, RecordBuilder... records) {
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    for (RecordBuilder record : records) {
      sent.add(producer.send(record.toProduce(partition)));
    }
    sent.forEach(one -> get(one::get));
  }

  /** A sound request for this fixture's shared topic. */
  RecordBuilder request(String id) {
    return RecordBuilder.binary().topic(topic()).with("ce_id", id);
  }

  /** Sound requests with ids from {@code first} on. */
  RecordBuilder[] requests(int first, int count) {
    RecordBuilder[] records = new RecordBuilder[count];
    for (int i = 0; i < count; i++) {
      records[i] = request("r-" + (first + i));
    }
    return records;
  }

  /** All receipts, in the order of their transactions. */
  List<OutboxEvent.Receipt> receipts() {
    List<OutboxEvent.Receipt> receipts = new ArrayList<>();
    for (String row : database.column("select events from escapement.outbox order by id")) {
      for (OutboxEvent event : OutboxRow.parse(row)) {
        if (event instanceof OutboxEvent.Receipt receipt) {
          receipts.add(receipt);
        }
      }
    }
    return receipts;
  }

  /** How often each record was decided, by {@code topic-partition@offset}. */
  Map<String, Long> decisionsByRecord() {
    return receipts().stream()
        .collect(
            Collectors.groupingBy(
                r -> r.topic() + "-" + r.partition() + "@" + r.offset(),
                TreeMap::new,
                Collectors.counting()));
  }

  /** The decisions on requests with ids, by id. */
  Map<String, Decision> decisionsById() {
    Map<String, Decision> decisions = new HashMap<>();
    for (OutboxEvent.Receipt receipt : receipts()) {
      String id = receipt.id();
      if (id != null) {
        decisions.merge(id, receipt.decision(), (one, other) -> other);
      }
    }
    return decisions;
  }

  long intents() {
    return database.number("select count(*) from escapement.intent");
  }

  /** What Kafka believes the group has consumed of a partition of the shared topic; -1: nothing. */
  long committed(int partition) {
    OffsetAndMetadata offset =
        get(() -> admin.listConsumerGroupOffsets(group()).partitionsToOffsetAndMetadata().get())
            .get(new TopicPartition(topic(), partition));
    return offset == null ? -1 : offset.offset();
  }

  @Override
  public void close() {
    open.forEach(IngestAssembly::close);
    producer.close(Duration.ofSeconds(5));
    admin.close();
    database.close();
  }

  /** Something that asks Kafka. */
  interface Question<T> {
    T ask() throws ExecutionException, InterruptedException;
  }

  static <T> T get(Question<T> question) {
    try {
      return question.ask();
    } catch (ExecutionException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Started by the first test that needs it, ends with the JVM. */
  private static final class Broker {
    static final EmbeddedBroker INSTANCE = start();

    private static EmbeddedBroker start() {
      try {
        EmbeddedBroker broker = EmbeddedBroker.start(Files.createTempDirectory("ingest"), 0);
        Runtime.getRuntime().addShutdownHook(new Thread(broker::close));
        return broker;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
