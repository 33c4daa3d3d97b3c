package io.escapement.bench;

import io.escapement.assembly.CommandFailure;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * Reads a whole topic as consumers of committed records see it, and notes when each record could be
 * read.
 *
 * <p>Cost: one thread, one consumer. Thread rule: arrivals are told on its own thread; ask from
 * any.
 */
final class CommittedReader implements AutoCloseable {

  /** Hears of a record. */
  @FunctionalInterface
  interface Arrival {
    /** The key of a record, and when it was there by the monotonic clock. */
    void arrived(byte[] key, long nanos);
  }

  private static final Duration POLL = Duration.ofMillis(200);

  private final KafkaConsumer<byte[], byte[]> consumer;
  private final Arrival arrival;
  private final AtomicLong count = new AtomicLong();
  private final Thread thread;
  private volatile @Nullable Exception failure;
  private volatile boolean closed;

  private CommittedReader(KafkaConsumer<byte[], byte[]> consumer, Arrival arrival) {
    this.consumer = consumer;
    this.arrival = arrival;
    this.thread = Thread.ofPlatform().daemon().name("bench-reader").unstarted(this::read);
  }

  /** Reads a topic from its beginning on. */
  static CommittedReader follow(BenchWorld world, String topic, Arrival arrival) {
    Map<String, Object> properties = new HashMap<>(world.config().kafkaClient());
    properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
    properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
    properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    properties.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
    KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    List<TopicPartition> partitions =
        consumer.partitionsFor(topic).stream()
            .map(info -> new TopicPartition(topic, info.partition()))
            .toList();
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
    CommittedReader reader = new CommittedReader(consumer, arrival);
    reader.thread.start();
    return reader;
  }

  /** How many records it has read. */
  long count() {
    Exception broken = failure;
    if (broken != null) {
      throw new CommandFailure("the benchmark's reader failed: " + broken.getMessage(), broken);
    }
    return count.get();
  }

  @Override
  public void close() {
    closed = true;
    consumer.wakeup();
    try {
      thread.join(Duration.ofSeconds(10));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void read() {
    try (consumer) {
      while (!closed) {
        ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
        long nanos = System.nanoTime();
        for (ConsumerRecord<byte[], byte[]> record : records) {
          arrival.arrived(record.key(), nanos);
        }
        count.addAndGet(records.count());
      }
    } catch (WakeupException e) {
      closed = true;
    } catch (KafkaException e) {
      failure = e;
    }
  }
}
