package io.escapement.dispatcher.relay;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.awaitility.Awaitility;

/** A reader of committed records: what any consumer of the topics sees, from their beginning. */
final class EventReader implements AutoCloseable {

  /** One event as it was read. */
  record Event(String id, String key, String topic, int partition, boolean repeated) {}

  private final KafkaConsumer<byte[], byte[]> consumer;
  private final Set<TopicPartition> partitions = new HashSet<>();
  private final List<Event> events = new ArrayList<>();
  private final List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();

  EventReader(String bootstrapServers, List<String> topics) {
    consumer =
        new KafkaConsumer<>(
            Map.of(
                "bootstrap.servers",
                bootstrapServers,
                "isolation.level",
                "read_committed",
                "key.deserializer",
                ByteArrayDeserializer.class,
                "value.deserializer",
                ByteArrayDeserializer.class));
    for (String topic : topics) {
      // A broker may take a moment to know a topic that was just made.
      Awaitility.await()
          .atMost(RelayHarness.PATIENCE)
          .until(() -> !consumer.partitionsFor(topic).isEmpty());
      consumer
          .partitionsFor(topic)
          .forEach(info -> partitions.add(new TopicPartition(topic, info.partition())));
    }
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
  }

  /** Reads what has come, up to now. */
  EventReader poll() {
    for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(50))) {
      records.add(record);
      events.add(
          new Event(
              header(record, "ce_id"),
              record.key() == null ? "" : new String(record.key(), UTF_8),
              record.topic(),
              record.partition(),
              header(record, "ce_repeated").equals("true")));
    }
    return this;
  }

  List<Event> events() {
    return List.copyOf(events);
  }

  List<ConsumerRecord<byte[], byte[]>> records() {
    return List.copyOf(records);
  }

  static String header(ConsumerRecord<byte[], byte[]> record, String name) {
    Header header = record.headers().lastHeader(name);
    return header == null ? "" : new String(header.value(), UTF_8);
  }

  /** Reads until all of these have come. */
  void awaitAll(List<String> ids) {
    Awaitility.await()
        .atMost(RelayHarness.PATIENCE)
        .untilAsserted(
            () -> {
              Set<String> missing = new LinkedHashSet<>(ids);
              poll().events.forEach(event -> missing.remove(event.id()));
              assertThat(missing).as("events that have not come").isEmpty();
            });
  }

  /** Reads until so many have come. */
  void awaitCount(int count) {
    Awaitility.await().atMost(RelayHarness.PATIENCE).until(() -> poll().events.size() >= count);
  }

  /** Reads to the end of every partition: what nobody adds to any more. */
  void readToEnd() {
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
    Awaitility.await()
        .atMost(RelayHarness.PATIENCE)
        .until(
            () -> {
              poll();
              return ends.entrySet().stream()
                  .allMatch(end -> consumer.position(end.getKey()) >= end.getValue());
            });
  }

  /**
   * What is wrong with what was read: events that are missing, too many, or out of order. Empty is
   * the good answer.
   *
   * @param writers each one's events share a key, so they must come in this order
   */
  List<String> faults(OutboxWriter... writers) {
    Map<String, Integer> times = new HashMap<>();
    Map<String, Integer> place = new HashMap<>();
    for (int i = 0; i < events.size(); i++) {
      times.merge(events.get(i).id(), 1, Integer::sum);
      place.putIfAbsent(events.get(i).id(), i);
    }
    List<String> faults = new ArrayList<>();
    for (OutboxWriter writer : writers) {
      int last = -1;
      for (String id : writer.committed()) {
        Integer count = times.remove(id);
        if (count == null) {
          faults.add(id + " is missing");
          continue;
        }
        if (count > 1) {
          faults.add(id + " came " + count + " times");
        }
        int at = place.getOrDefault(id, -1);
        if (at < last) {
          faults.add(id + " came too late");
        }
        last = at;
      }
    }
    times.keySet().forEach(id -> faults.add(id + " was never committed"));
    return faults;
  }

  @Override
  public void close() {
    consumer.close();
  }
}
