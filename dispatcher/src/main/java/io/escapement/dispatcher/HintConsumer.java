package io.escapement.dispatcher;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads one queue's dispatch topic: which slots are this process's, and hints of new work.
 *
 * <p>On assignment it goes to the end first (old hints are worthless), then has the driver load the
 * slots from the ledger, then listens: what was committed before the load is in the load, what was
 * committed after it is hinted after the end. No offset is committed, for none is ever needed.
 *
 * <p>Failure: a broker that is away costs latency only; the slots stay and the sweep goes on.
 * Thread rule: {@link #runOnce} and {@link #close} on one thread, {@link #wakeup} from any.
 */
final class HintConsumer {

  private static final Logger LOG = LoggerFactory.getLogger(HintConsumer.class);
  private static final Duration POLL = Duration.ofMillis(500);
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(10);
  private static final int SLOTS = 256;

  /** A rebalance waits no longer for timers to be dropped. */
  private static final Duration GIVING_UP = Duration.ofSeconds(2);

  private static final byte[] RELOAD = "io.escapement.dispatch.reload".getBytes(UTF_8);

  private final String topic;
  private final Map<String, Object> properties;
  private final QueueDriver driver;
  private final JsonFactory json = new JsonFactory();
  private @Nullable KafkaConsumer<byte[], byte[]> consumer;

  HintConsumer(String topic, String group, Map<String, String> kafka, QueueDriver driver) {
    this.topic = topic;
    this.driver = driver;
    this.properties = new HashMap<>(kafka);
    properties.put(ConsumerConfig.GROUP_ID_CONFIG, group);
    properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
    properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
    properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "latest");
    properties.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, "5000");
    properties.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, "500");
    properties.put(
        ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG,
        List.of(CooperativeStickyAssignor.class.getName()));
    // So long are the slots of added partitions nobody's, at worst.
    properties.putIfAbsent(ConsumerConfig.METADATA_MAX_AGE_CONFIG, "30000");
    // So long are the slots of a killed dispatcher nobody's.
    properties.putIfAbsent(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, "10000");
    properties.putIfAbsent(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG, "3000");
    properties.put(
        ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class.getName());
    properties.put(
        ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class.getName());
  }

  /** Polls once and passes on what came. */
  int runOnce() {
    KafkaConsumer<byte[], byte[]> polled = consumer;
    if (polled == null) {
      polled = new KafkaConsumer<>(properties);
      consumer = polled;
      polled.subscribe(List.of(topic), new Assignment(polled));
    }
    List<Hint> hints = new ArrayList<>();
    boolean reload = false;
    try {
      for (ConsumerRecord<byte[], byte[]> record : polled.poll(POLL)) {
        if (asksForReload(record)) {
          reload = true;
          continue;
        }
        Hint hint = parse(record);
        if (hint != null) {
          hints.add(hint);
        }
      }
    } catch (WakeupException e) {
      return 0;
    } catch (RuntimeException e) {
      close();
      throw e;
    }
    if (reload) {
      LOG.info("{}: the relay lost its slot; loading from the ledger anew", topic);
      driver.reload();
    }
    if (!hints.isEmpty()) {
      driver.hint(hints);
    }
    return hints.size();
  }

  /** Ends a poll that waits. */
  void wakeup() {
    KafkaConsumer<byte[], byte[]> polled = consumer;
    if (polled != null) {
      polled.wakeup();
    }
  }

  /** Leaves the group. */
  void close() {
    KafkaConsumer<byte[], byte[]> polled = consumer;
    consumer = null;
    if (polled != null) {
      polled.close();
    }
  }

  /** What a relay sends to every partition when it can't say which hints were lost. */
  private static boolean asksForReload(ConsumerRecord<byte[], byte[]> record) {
    Header type = record.headers().lastHeader("ce_type");
    return type != null && Arrays.equals(RELOAD, type.value());
  }

  private @Nullable Hint parse(ConsumerRecord<byte[], byte[]> record) {
    byte[] value = record.value();
    if (value == null) {
      return null;
    }
    long task = -1;
    int slot = -1;
    String tenant = "";
    Instant due = Instant.EPOCH;
    try (JsonParser parser = json.createParser(value)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return null;
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String field = parser.currentName();
        parser.nextToken();
        switch (field) {
          case "task" -> task = parser.getLongValue();
          case "slot" -> slot = parser.getIntValue();
          case "tenant" -> tenant = parser.getText();
          case "dueAt" -> due = Instant.parse(parser.getText());
          default -> parser.skipChildren();
        }
      }
      return task < 0 ? null : new Hint(task, tenant, slot, DatabaseClock.epochNanos(due));
    } catch (IOException | DateTimeParseException | ArithmeticException e) {
      // Only a hint: the sweep finds what it was about.
      LOG.warn(
          "{}-{}@{} is not a hint: {}",
          record.topic(),
          record.partition(),
          record.offset(),
          e.getMessage());
      return null;
    }
  }

  /** Keeps the driver told of the slots. */
  private final class Assignment implements ConsumerRebalanceListener {
    private final KafkaConsumer<byte[], byte[]> of;
    private final Set<Integer> partitions = new HashSet<>();

    Assignment(KafkaConsumer<byte[], byte[]> of) {
      this.of = of;
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> assigned) {
      of.seekToEnd(assigned);
      for (TopicPartition partition : assigned) {
        of.position(partition);
        partitions.add(partition.partition());
      }
      var unused = tell();
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> revoked) {
      for (TopicPartition partition : revoked) {
        partitions.remove(partition.partition());
      }
      awaitTimersGone(tell());
    }

    /** Before the next owner begins, the timers are gone; what was claimed is fenced anyway. */
    private void awaitTimersGone(CountDownLatch gone) {
      try {
        if (!gone.await(GIVING_UP.toMillis(), TimeUnit.MILLISECONDS)) {
          LOG.warn("{}: timers of slots given up are still there after {}", topic, GIVING_UP);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private CountDownLatch tell() {
      if (!of.equals(consumer)) {
        // Closing after a failure: the slots stay until another consumer has been assigned some.
        return new CountDownLatch(0);
      }
      int count = partitionCount();
      Set<Integer> slots = new HashSet<>();
      for (int slot = 0; slot < SLOTS; slot++) {
        if (partitions.contains(slot % count)) {
          slots.add(slot);
        }
      }
      return driver.own(slots);
    }

    /**
     * As the broker has it now. What this consumer knows of the topic may be minutes old, and with
     * members that reckon with different numbers a slot could be nobody's.
     */
    private int partitionCount() {
      List<PartitionInfo> all = of.listTopics(ANSWER_LIMIT).get(topic);
      if (all == null) {
        throw new DispatcherException("the broker has no topic " + topic);
      }
      return all.size();
    }
  }
}
