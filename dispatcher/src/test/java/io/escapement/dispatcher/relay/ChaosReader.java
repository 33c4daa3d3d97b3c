package io.escapement.dispatcher.relay;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.awaitility.Awaitility;

/** Reads committed records of one topic and keeps the ids of each key's events, as they came. */
final class ChaosReader implements AutoCloseable {

  private static final int FAULTS_NAMED = 20;

  private final KafkaConsumer<byte[], byte[]> consumer;
  private final List<TopicPartition> partitions = new ArrayList<>();
  private final Map<String, List<String>> ids = new TreeMap<>();
  private int repeated;
  private int count;

  ChaosReader(String bootstrapServers, String topic) {
    consumer =
        new KafkaConsumer<>(
            Map.of("bootstrap.servers", bootstrapServers, "isolation.level", "read_committed"),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer());
    Awaitility.await()
        .atMost(RelayHarness.PATIENCE)
        .until(() -> !consumer.partitionsFor(topic).isEmpty());
    consumer
        .partitionsFor(topic)
        .forEach(info -> partitions.add(new TopicPartition(topic, info.partition())));
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
  }

  /** Reads what comes within a while; answers how many there are in all. */
  int poll() {
    for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
      ids.computeIfAbsent(new String(record.key(), UTF_8), key -> new ArrayList<>())
          .add(EventReader.header(record, "ce_id"));
      if (EventReader.header(record, "ce_repeated").equals("true")) {
        repeated++;
      }
      count++;
    }
    return count;
  }

  /** Whether everything that is in the topic now has been read. */
  boolean atEnd() {
    poll();
    return consumer.endOffsets(partitions).entrySet().stream()
        .allMatch(end -> consumer.position(end.getKey()) >= end.getValue());
  }

  /** Events that were marked as repeated. */
  int repeated() {
    return repeated;
  }

  /** What differs from exactly these, in this order. Empty is the good answer. */
  List<String> faults(String key, List<String> committed) {
    List<String> read = ids.getOrDefault(key, List.of());
    if (read.equals(committed)) {
      return List.of();
    }
    List<String> faults = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    for (String id : read) {
      if (!seen.add(id)) {
        faults.add(id + " came again");
      }
    }
    Set<String> expected = new HashSet<>(committed);
    committed.stream()
        .filter(id -> !seen.contains(id))
        .forEach(id -> faults.add(id + " is missing"));
    seen.stream()
        .filter(id -> !expected.contains(id))
        .forEach(id -> faults.add(id + " is not true"));
    if (faults.isEmpty()) {
      faults.add(key + ": not in the order of the commits");
    }
    return faults.subList(0, Math.min(FAULTS_NAMED, faults.size()));
  }

  @Override
  public void close() {
    consumer.close();
  }
}
