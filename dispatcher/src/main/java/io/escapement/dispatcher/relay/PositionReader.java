package io.escapement.dispatcher.relay;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Finds the last committed position of a slot, in the first partition of its topic: one partition,
 * so that "last" means something whatever becomes of their number.
 *
 * <p>What counts is everything up to the end of the log, not up to the last stable offset: somebody
 * else's open transaction in the topic would hide a position of ours that lies behind it. So the
 * reader waits until it has passed the end that it saw. Cost: the tail of the topic; all of it only
 * if the tail has no position of this slot.
 */
final class PositionReader {

  /** The partition that positions are written to. */
  static final int PARTITION = 0;

  private static final int TAIL_RECORDS = 1_000;
  private static final Duration POLL = Duration.ofMillis(100);

  private final RelayConfig config;
  private final TopicPartition partition;

  PositionReader(RelayConfig config) {
    this.config = config;
    this.partition = new TopicPartition(config.topics().relayPosition(), PARTITION);
  }

  Optional<RelayPosition> read() {
    long end;
    try (KafkaConsumer<byte[], byte[]> uncommitted = consumer("read_uncommitted")) {
      end = uncommitted.endOffsets(List.of(partition)).getOrDefault(partition, 0L);
    }
    try (KafkaConsumer<byte[], byte[]> committed = consumer("read_committed")) {
      committed.assign(List.of(partition));
      committed.seek(partition, Math.max(0, end - TAIL_RECORDS));
      Optional<RelayPosition> inTail = scan(committed, end);
      if (inTail.isPresent() || end <= TAIL_RECORDS) {
        return inTail;
      }
      committed.seekToBeginning(List.of(partition));
      return scan(committed, end);
    }
  }

  /** Reads on to the end. */
  private Optional<RelayPosition> scan(KafkaConsumer<byte[], byte[]> consumer, long end) {
    byte[] key = config.slot().getBytes(UTF_8);
    byte[] last = null;
    long patienceNanos = config.tuning().answerTimeout().toNanos();
    long movedNanos = System.nanoTime();
    long reached = -1;
    while (consumer.position(partition) < end) {
      for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
        if (Arrays.equals(key, record.key())) {
          last = record.value();
        }
      }
      if (consumer.position(partition) > reached) {
        reached = consumer.position(partition);
        movedNanos = System.nanoTime();
      } else if (System.nanoTime() - movedNanos > patienceNanos) {
        throw new RelayFailedException(
            "the end of the Kafka topic '"
                + partition.topic()
                + "' can't be read: another producer's transaction is open in it");
      }
    }
    return last == null ? Optional.empty() : Optional.of(parse(last));
  }

  private RelayPosition parse(byte[] json) {
    try {
      return RelayPosition.fromJson(json);
    } catch (IllegalArgumentException e) {
      throw new RelayFailedException(
          "the last record of slot '"
              + config.slot()
              + "' in the Kafka topic '"
              + partition.topic()
              + "' is not a position; nobody but the relay may write there",
          e);
    }
  }

  private KafkaConsumer<byte[], byte[]> consumer(String isolation) {
    Map<String, Object> properties = new HashMap<>(config.kafka());
    properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, isolation);
    properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
    properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    properties.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
    properties.put(
        ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG,
        Math.toIntExact(config.tuning().answerTimeout().toMillis()));
    properties.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    properties.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    return new KafkaConsumer<>(properties);
  }
}
