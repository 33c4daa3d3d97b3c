package io.escapement.ingest;

import io.escapement.ledger.Ledger;
import io.escapement.ledger.LedgerException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.InvalidOffsetException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls the requests topics and has the ledger decide every record, once.
 *
 * <p>What a poll brings is decided before the next poll, so no batch is ever open while partitions
 * change hands. The ledger moves a partition's position in the transaction of its decisions, from
 * what this loop last read or wrote; a loop that lost its partition without noticing is refused
 * there. After every failure that leaves open what was committed, positions are read again: they
 * say it. Kafka's committed offsets follow for tools that show lag; nothing resumes from them.
 *
 * <p>Cost: one statement a batch. Ordering: records of a partition are decided in offset order.
 * Thread rule: one thread calls {@link #runOnce} and {@link #close}; {@link #health} from any.
 * Failure: Kafka's and the ledger's failures are survived, with growing waits between tries, inside
 * the group and with the partitions paused.
 */
public final class IngestLoop implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(IngestLoop.class);

  /** The payload limit may be changed in the ledger at any time; it is heeded within this. */
  private static final Duration SETTINGS_AGE = Duration.ofSeconds(10);

  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(10);

  private final Consumer<byte[], byte[]> consumer;
  private final MetadataWatch metadata;
  private final TopicFacts facts;
  private final Ledger ledger;
  private final String requestsTopic;
  private final IngestConfig config;
  private final Partitions partitions;
  private final Placements placements;
  private final Admitter admitter;
  private final Backoff backoff;
  private final HealthBoard board;
  private long checkedMetadata = -1;
  private boolean pollFailed;
  private @Nullable RequestReader reader;
  private long readerNanos;

  IngestLoop(
      Consumer<byte[], byte[]> consumer,
      MetadataWatch metadata,
      TopicFacts facts,
      Ledger ledger,
      String requestsTopic,
      IngestConfig config,
      IngestStats stats) {
    this.consumer = consumer;
    this.metadata = metadata;
    this.facts = facts;
    this.ledger = ledger;
    this.requestsTopic = requestsTopic;
    this.config = config;
    this.partitions = new Partitions(consumer);
    this.placements = new Placements(facts, ledger);
    this.admitter = new Admitter(ledger, partitions, stats);
    this.backoff = new Backoff(config.retryBase(), config.retryCap(), System::nanoTime);
    this.board = new HealthBoard(stats);
    consumer.subscribe(topics(requestsTopic), partitions);
  }

  /** The shared topic and every tenant's own. */
  static Pattern topics(String requestsTopic) {
    return Pattern.compile(Pattern.quote(requestsTopic) + "(\\.[A-Za-z0-9._-]+)?");
  }

  /**
   * Polls once and decides what came.
   *
   * @return how many records were decided
   */
  public int runOnce() {
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
      decided = decide(polled);
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
    board.show(partitions, backoff.failing());
    return decided;
  }

  /** How it is. */
  public IngestHealth health() {
    return board.health();
  }

  /** Ends a wait in {@link #runOnce} soon; from any thread. */
  void wakeup() {
    consumer.wakeup();
  }

  /** Leaves the group. */
  @Override
  public void close() {
    close(IngestHealth.State.CLOSED);
  }

  void close(IngestHealth.State state) {
    board.end(state);
    consumer.close(CloseOptions.timeout(CLOSE_LIMIT));
  }

  /** Notes a fault that ends the loop. */
  void noteFault(Throwable fault) {
    board.failed(fault);
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

  private int decide(ConsumerRecords<byte[], byte[]> polled) {
    int decided = 0;
    for (List<Share> batch : Batches.of(polled, config.batchRecords(), config.batchBytes())) {
      List<Share> shares = admitter.admit(batch, reader());
      if (!shares.isEmpty()) {
        backoff.succeeded();
        commitAfterwards(shares);
      }
      for (Share share : shares) {
        decided += share.records().size();
      }
    }
    return decided;
  }

  private void commitAfterwards(List<Share> shares) {
    Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
    for (Share share : shares) {
      offsets.merge(
          share.partition(),
          new OffsetAndMetadata(share.next()),
          (one, other) -> one.offset() > other.offset() ? one : other);
    }
    consumer.commitAsync(
        offsets,
        (committed, failure) -> {
          if (failure != null) {
            // Only what lag tools show is late; the next commit makes up for it.
            LOG.debug("Kafka's offsets were not committed: {}", WireText.oneLine(failure));
          }
        });
  }

  /** Reads the positions of partitions that wait for it, unless a failure was a moment ago. */
  private void placeWaiting() {
    Set<TopicPartition> waiting = partitions.waiting();
    if (waiting.isEmpty() || !backoff.remaining().isZero()) {
      return;
    }
    try {
      Map<TopicPartition, Placements.Found> found = placements.of(waiting);
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

  /** Finds out, when it may have changed, which topics the names stand for. */
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

  private RequestReader reader() {
    long now = System.nanoTime();
    RequestReader current = reader;
    if (current == null || now - readerNanos > SETTINGS_AGE.toNanos()) {
      current = new RequestReader(requestsTopic, ledger.settings().maxPayloadBytes());
      reader = current;
      readerNanos = now;
    }
    return current;
  }

  private void failed(RuntimeException failure) {
    Duration wait = backoff.failed();
    board.failed(failure);
    LOG.warn("trying again in {} ms: {}", wait.toMillis(), WireText.oneLine(failure));
    LOG.debug("the failure", failure);
  }
}
