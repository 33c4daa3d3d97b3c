package io.escapement.ingest;

import io.escapement.ledger.Ledger;
import io.escapement.ledger.LedgerException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.InvalidOffsetException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls the commands topic and has the ledger execute every record, once, each in a transaction of
 * its own.
 *
 * <p>The rules are those of requests: the ledger's position says where to resume and is moved in
 * the record's own transaction; Kafka's committed offsets follow for tools that show lag. A bulk
 * act may take seconds, and locks may be waited for: the ledger ends its statement long before the
 * group would miss a poll.
 *
 * <p>Cost: one statement a record. Ordering: records of a partition in offset order. Thread rule:
 * one thread calls {@link #runOnce} and {@link #close}; {@link #health} from any. Failure: Kafka's
 * and the ledger's failures are survived, with growing waits between tries.
 */
final class CommandLoop implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(CommandLoop.class);

  /** So often it is looked whether somebody has said where a stopped partition goes on. */
  private static final Duration STOPPED_RETRY = Duration.ofSeconds(2);

  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(10);

  private final Consumer<byte[], byte[]> consumer;
  private final MetadataWatch metadata;
  private final TopicFacts facts;
  private final CommandConfig config;
  private final Partitions partitions;
  private final Placements placements;
  private final CommandExecutor executor;
  private final CommandStats stats;
  private final Backoff backoff;
  private volatile CommandHealth health =
      new CommandHealth(CommandHealth.State.RUNNING, 0, Map.of(), null, null);
  private long checkedMetadata = -1;
  private boolean pollFailed;
  private long stoppedTriedNanos = System.nanoTime();

  CommandLoop(
      Consumer<byte[], byte[]> consumer,
      MetadataWatch metadata,
      TopicFacts facts,
      Ledger ledger,
      String topic,
      CommandConfig config,
      CommandStats stats) {
    this.consumer = consumer;
    this.metadata = metadata;
    this.facts = facts;
    this.config = config;
    this.partitions = new Partitions(consumer);
    this.placements = new Placements(facts, ledger);
    this.executor = new CommandExecutor(ledger, partitions, stats);
    this.stats = stats;
    this.backoff = new Backoff(config.retryBase(), config.retryCap(), System::nanoTime);
    consumer.subscribe(List.of(topic), partitions);
  }

  /**
   * Polls once and executes what came.
   *
   * @return how many records were decided
   */
  int runOnce() {
    int decided = 0;
    try {
      if (pollFailed) {
        // A poll that fails at once waits for nothing; so the wait has to be here.
        LockSupport.parkNanos(backoff.remaining().toNanos());
        pollFailed = false;
      }
      placeWaiting();
      ConsumerRecords<byte[], byte[]> polled = poll();
      checkTopicIds();
      decided = execute(polled);
      backoff.quiet();
    } catch (WakeupException e) {
      LOG.debug("woken up");
    } catch (InterruptException e) {
      throw e;
    } catch (RuntimeException e) {
      // What is committed and where the consumer stands may differ now; the positions tell.
      partitions.forgetConsumed();
      failed(e);
    }
    show();
    return decided;
  }

  /** How it is. */
  CommandHealth health() {
    return health;
  }

  /** Ends a wait in {@link #runOnce} soon; from any thread. */
  void wakeup() {
    consumer.wakeup();
  }

  /** Leaves the group. */
  @Override
  public void close() {
    close(CommandHealth.State.CLOSED);
  }

  void close(CommandHealth.State state) {
    CommandHealth last = health;
    health = new CommandHealth(state, 0, last.stopped(), last.lastError(), last.lastErrorAt());
    consumer.close(CloseOptions.timeout(CLOSE_LIMIT));
  }

  /** Notes a failure. */
  void noteFault(Throwable fault) {
    stats.failure();
    health =
        new CommandHealth(
            CommandHealth.State.DEGRADED,
            health.partitions(),
            health.stopped(),
            WireText.oneLine(fault),
            Instant.now());
  }

  private ConsumerRecords<byte[], byte[]> poll() {
    Duration wait = config.pollTimeout();
    Duration untilRetry = backoff.remaining();
    if (!untilRetry.isZero() && untilRetry.compareTo(wait) < 0) {
      wait = untilRetry;
    }
    try {
      return consumer.poll(wait);
    } catch (InvalidOffsetException e) {
      // Topic re-created, or retention or a lost log overtook us: the placement tells which.
      LOG.warn("no such offset: {}", WireText.oneLine(e));
      partitions.forget(e.partitions());
      failed(e);
      return ConsumerRecords.empty();
    } catch (WakeupException | InterruptException e) {
      throw e;
    } catch (RuntimeException e) {
      pollFailed = true;
      throw e;
    }
  }

  private int execute(ConsumerRecords<byte[], byte[]> polled) {
    int decided = 0;
    for (List<Share> batch : Batches.of(polled, 1, Long.MAX_VALUE)) {
      for (Share share : batch) {
        if (executor.execute(share)) {
          backoff.succeeded();
          commitAfterwards(share);
          decided += share.records().size();
        }
      }
    }
    return decided;
  }

  private void commitAfterwards(Share share) {
    consumer.commitAsync(
        Map.of(share.partition(), new OffsetAndMetadata(share.next())),
        (committed, failure) -> {
          if (failure != null) {
            // Only what lag tools show is late; the next commit makes up for it.
            LOG.debug("Kafka's offsets were not committed: {}", WireText.oneLine(failure));
          }
        });
  }

  /** Reads the positions of partitions that wait for it, unless a failure was a moment ago. */
  private void placeWaiting() {
    if (!backoff.remaining().isZero()) {
      return;
    }
    Set<TopicPartition> waiting = new HashSet<>(partitions.waiting());
    Set<TopicPartition> asked = new HashSet<>(waiting);
    long now = System.nanoTime();
    if (now - stoppedTriedNanos > STOPPED_RETRY.toNanos()) {
      stoppedTriedNanos = now;
      asked.addAll(partitions.stopped().keySet());
    }
    if (asked.isEmpty()) {
      return;
    }
    try {
      Map<TopicPartition, Placements.Found> found = placements.of(asked);
      found.forEach(partitions::place);
      waiting.removeAll(found.keySet());
      if (!waiting.isEmpty()) {
        failed(new KafkaException("Kafka does not know " + waiting));
      }
    } catch (LedgerException | KafkaException e) {
      if (e instanceof InterruptException || e instanceof WakeupException) {
        throw e;
      }
      // Partitions that have their place go on.
      failed(e);
    }
  }

  /** Finds out, when it may have changed, which topic the name stands for. */
  private void checkTopicIds() {
    long seen = metadata.updates();
    if (seen == checkedMetadata) {
      return;
    }
    Map<TopicPartition, UUID> known = new HashMap<>();
    partitions.consumed().forEach((partition, at) -> known.put(partition, at.key().topicId()));
    partitions.stopped().forEach((partition, stop) -> known.put(partition, stop.key().topicId()));
    if (!known.isEmpty()) {
      Map<String, UUID> ids = facts.ids(Placements.topics(known.keySet()));
      Set<TopicPartition> others = new HashSet<>();
      known.forEach(
          (partition, id) -> {
            if (!id.equals(ids.get(partition.topic()))) {
              others.add(partition);
            }
          });
      if (!others.isEmpty()) {
        LOG.warn("deleted or created again, reading the positions anew: {}", others);
        partitions.forget(others);
      }
    }
    checkedMetadata = seen;
  }

  private void failed(RuntimeException failure) {
    Duration wait = backoff.failed();
    noteFault(failure);
    LOG.warn("trying again in {} ms: {}", wait.toMillis(), WireText.oneLine(failure));
    LOG.debug("the failure", failure);
  }

  private void show() {
    Map<String, String> stopped = new HashMap<>();
    partitions
        .stopped()
        .forEach((partition, stop) -> stopped.put(partition.toString(), stop.reason()));
    boolean well = !backoff.failing() && stopped.isEmpty();
    health =
        new CommandHealth(
            well ? CommandHealth.State.RUNNING : CommandHealth.State.DEGRADED,
            partitions.count(),
            stopped,
            health.lastError(),
            health.lastErrorAt());
  }
}
