package io.escapement.submit;

import io.escapement.ledger.Decision;
import io.escapement.ledger.TopicNames;
import io.escapement.submit.Receipt.Coordinates;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * Follows the receipts topic from a moment on and remembers what was decided about the records of
 * one requests topic that were sent after that moment.
 *
 * <p>Cost: one consumer, one entry a record. Thread rule: one thread reads, any thread asks.
 * Failure: a broken connection is retried by the client; what can't be, surfaces where somebody
 * waits.
 */
public final class Receipts implements AutoCloseable {

  private static final Duration POLL = Duration.ofMillis(200);

  private final KafkaConsumer<byte[], byte[]> consumer;
  private final String requestsTopic;
  private final Map<Integer, Long> requestsEnd;
  private final Thread thread;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<Coordinates, Integer> counts = new HashMap<>();
  private final Map<String, Map<Decision, Integer>> decisions = new TreeMap<>();
  private final Map<String, Integer> reasons = new TreeMap<>();
  private boolean endWanted;
  private @Nullable RuntimeException failure;
  private volatile boolean closed;

  private Receipts(
      KafkaConsumer<byte[], byte[]> consumer, String requestsTopic, Map<Integer, Long> end) {
    this.consumer = consumer;
    this.requestsTopic = requestsTopic;
    this.requestsEnd = end;
    this.thread = Thread.ofPlatform().daemon().name("receipts").unstarted(this::read);
  }

  /** Follows from now on: what is sent after this returns is seen. */
  public static Receipts follow(
      Map<String, String> kafka, TopicNames topics, String requestsTopic) {
    Map<String, Object> properties = new HashMap<>(kafka);
    properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
    properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
    properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
    properties.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
    KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    try {
      List<TopicPartition> partitions = partitions(consumer, topics.receipts());
      consumer.assign(partitions);
      // Offsets now, not at the first poll: what is sent in between must be seen.
      consumer.endOffsets(partitions).forEach(consumer::seek);
      Map<Integer, Long> end = new HashMap<>();
      consumer
          .endOffsets(partitions(consumer, requestsTopic))
          .forEach((partition, offset) -> end.put(partition.partition(), offset));
      Receipts receipts = new Receipts(consumer, requestsTopic, end);
      receipts.thread.start();
      return receipts;
    } catch (RuntimeException e) {
      consumer.close();
      throw e;
    }
  }

  private static List<TopicPartition> partitions(KafkaConsumer<?, ?> consumer, String topic) {
    return consumer.partitionsFor(topic).stream()
        .map(info -> new TopicPartition(topic, info.partition()))
        .toList();
  }

  /** What was decided so far, by decision; decisions that never came are absent. */
  public Map<Decision, Integer> decisions() {
    Map<Decision, Integer> sums = new EnumMap<>(Decision.class);
    for (Map<Decision, Integer> ofKind : decisionsByKind().values()) {
      ofKind.forEach((decision, count) -> sums.merge(decision, count, Integer::sum));
    }
    return sums;
  }

  /** The same for each kind that records asked for; "" stands for one that could not be read. */
  public Map<String, Map<Decision, Integer>> decisionsByKind() {
    lock.lock();
    try {
      Map<String, Map<Decision, Integer>> copy = new TreeMap<>();
      decisions.forEach((kind, counted) -> copy.put(kind, new EnumMap<>(counted)));
      return copy;
    } finally {
      lock.unlock();
    }
  }

  /** Why records were refused, the commonest reason first, at most some. */
  public List<String> commonReasons(int most) {
    lock.lock();
    try {
      return reasons.entrySet().stream()
          .sorted(Map.Entry.<String, Integer>comparingByValue(Comparator.reverseOrder()))
          .limit(most)
          .map(reason -> reason.getValue() + " × " + reason.getKey())
          .toList();
    } finally {
      lock.unlock();
    }
  }

  /**
   * How many receipts of how many records were seen: more than one a record is a broken promise.
   */
  public Tally tally() {
    lock.lock();
    try {
      return new Tally(counts.size(), counts.values().stream().mapToInt(n -> n).sum());
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until everything that is in the receipts topic by now has been read: a receipt too many
   * may stand behind the last one that was waited for.
   */
  public void readToEnd(Duration atMost) throws InterruptedException {
    long remainingNanos = atMost.toNanos();
    lock.lock();
    try {
      endWanted = true;
      while (endWanted && remainingNanos > 0) {
        remainingNanos = changed.awaitNanos(remainingNanos);
        rethrow();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Records that have a receipt, and receipts in all. */
  public record Tally(int records, int receipts) {}

  /**
   * Waits until each of some records has a receipt.
   *
   * @return those that still have none when time is up
   */
  public List<Coordinates> await(Collection<Coordinates> records, Duration atMost)
      throws InterruptedException {
    long remainingNanos = atMost.toNanos();
    lock.lock();
    try {
      List<Coordinates> missing = missing(records);
      while (!missing.isEmpty() && remainingNanos > 0) {
        remainingNanos = changed.awaitNanos(remainingNanos);
        rethrow();
        missing = missing(missing);
      }
      return missing;
    } finally {
      lock.unlock();
    }
  }

  private List<Coordinates> missing(Collection<Coordinates> records) {
    List<Coordinates> missing = new ArrayList<>();
    for (Coordinates record : records) {
      if (!counts.containsKey(record)) {
        missing.add(record);
      }
    }
    return missing;
  }

  private void rethrow() {
    if (failure != null) {
      throw failure;
    }
  }

  @Override
  public void close() {
    closed = true;
    consumer.wakeup();
    try {
      thread.join(Duration.ofSeconds(5));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void read() {
    try (consumer) {
      while (!closed) {
        pollOnce();
        if (isEndWanted()) {
          Map<TopicPartition, Long> end = consumer.endOffsets(consumer.assignment());
          while (!closed && !isReadTo(end)) {
            pollOnce();
          }
          endReached();
        }
      }
    } catch (WakeupException e) {
      // Closed: nobody waits any more.
      closed = true;
    } catch (KafkaException | IOException e) {
      fail(e);
    }
  }

  private void pollOnce() throws IOException {
    List<Receipt> read = new ArrayList<>();
    for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
      Receipt.read(requestsTopic, record.value()).ifPresent(read::add);
    }
    note(read);
  }

  private boolean isReadTo(Map<TopicPartition, Long> end) {
    return end.entrySet().stream().allMatch(e -> consumer.position(e.getKey()) >= e.getValue());
  }

  private boolean isEndWanted() {
    lock.lock();
    try {
      return endWanted;
    } finally {
      lock.unlock();
    }
  }

  private void endReached() {
    lock.lock();
    try {
      endWanted = false;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void note(List<Receipt> receipts) {
    lock.lock();
    try {
      for (Receipt receipt : receipts) {
        if (isNew(receipt.at())) {
          counts.merge(receipt.at(), 1, Integer::sum);
          decisions
              .computeIfAbsent(
                  Objects.requireNonNullElse(receipt.kind(), ""),
                  kind -> new EnumMap<>(Decision.class))
              .merge(receipt.decision(), 1, Integer::sum);
          if (receipt.reason() != null) {
            reasons.merge(receipt.decision().word() + ": " + receipt.reason(), 1, Integer::sum);
          }
        }
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private boolean isNew(Coordinates at) {
    return at.offset() >= requestsEnd.getOrDefault(at.partition(), 0L);
  }

  private void fail(Exception e) {
    lock.lock();
    try {
      failure = new IllegalStateException("the receipts can't be read: " + e.getMessage(), e);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
