package io.escapement.ingest;

import io.escapement.ledger.AdmissionBatch;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.PartitionKey;
import io.escapement.ledger.PositionAdvance;
import io.escapement.ledger.Submission;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * The negative control: the ingest that people usually write. It resumes from Kafka's committed
 * offset, commits after the database did, and nothing in the database knows where a partition
 * stands: each incarnation calls the topic by another id, so the fence never holds.
 */
final class UnfencedIngest implements AutoCloseable {

  private final Ledger ledger;
  private final String topic;
  private final Consumer<byte[], byte[]> consumer;
  private final UUID incarnation = UUID.randomUUID();
  private final Map<TopicPartition, Long> rows = new HashMap<>();
  private final Thread thread = new Thread(this::run, "unfenced-ingest");
  private volatile boolean stopping;

  UnfencedIngest(
      Ledger ledger,
      Map<String, Object> kafka,
      String topic,
      String group,
      UnaryOperator<Consumer<byte[], byte[]>> lens) {
    this.ledger = ledger;
    this.topic = topic;
    Map<String, Object> properties = new HashMap<>(kafka);
    properties.put("group.id", group);
    properties.put("enable.auto.commit", false);
    properties.put("auto.offset.reset", "earliest");
    this.consumer =
        lens.apply(
            new KafkaConsumer<>(
                properties, new ByteArrayDeserializer(), new ByteArrayDeserializer()));
  }

  void start() {
    thread.start();
  }

  @Override
  public void close() {
    stopping = true;
    consumer.wakeup();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    RequestReader reader = new RequestReader(topic, 1_000_000);
    consumer.subscribe(List.of(topic));
    try {
      while (!stopping) {
        ConsumerRecords<byte[], byte[]> polled = consumer.poll(Duration.ofMillis(200));
        for (TopicPartition partition : polled.partitions()) {
          admit(partition, polled.records(partition), reader);
        }
        if (!polled.isEmpty()) {
          consumer.commitAsync();
        }
      }
    } catch (WakeupException e) {
      stopping = true;
    } finally {
      consumer.close();
    }
  }

  private void admit(
      TopicPartition partition,
      List<ConsumerRecord<byte[], byte[]>> records,
      RequestReader reader) {
    List<Submission> submissions = new ArrayList<>();
    records.forEach(record -> submissions.add(reader.read(record, 0)));
    long next = records.getLast().offset() + 1;
    PartitionKey key = new PartitionKey(topic, incarnation, partition.partition());
    ledger.admit(
        new AdmissionBatch(
            List.of(new PositionAdvance(key, rows.get(partition), next)), submissions));
    rows.put(partition, next);
  }
}
