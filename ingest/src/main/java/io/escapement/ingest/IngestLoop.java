package io.escapement.ingest;

import io.escapement.ledger.Ledger;
import io.escapement.ledger.LedgerException;
import io.escapement.ledger.PositionAdvance;
import io.escapement.ledger.PositionAdvance.WhenFull;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.InvalidOffsetException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls topics and has the ledger decide every record, once.
 *
 * <p>Two threads: the consumer's, which polls, reads records and keeps the partitions, and the
 * ledger's, which decides one batch after the other. While one batch is decided the next is polled
 * and read; when the ledger does not keep up (it waits for a lock, say) the partitions rest and the
 * consumer goes on polling, so that the group never takes it for dead.
 *
 * <p>The ledger moves a partition's position in the transaction of its decisions, from what this
 * loop believes it to be; a loop that lost its partition without noticing, or that followed up on a
 * batch that failed, is refused there. After every failure that leaves open what was committed,
 * positions are read again: they say it. Kafka's committed offsets follow for tools that show lag;
 * nothing resumes from them.
 *
 * <p>What deciding means is the {@link Decider}'s. Cost: one statement a batch. Ordering: records
 * of a partition are decided in offset order. Thread rule: one thread calls {@link #runOnce} and
 * {@link #close}; {@link #health} from any. Failure: Kafka's and the ledger's failures are
 * survived, with growing waits between tries, inside the group and with the partitions paused.
 */
public final class IngestLoop implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(IngestLoop.class);

  /** So often it is looked whether a partition that waits for room finds it. */
  private static final Duration HOLD_RETRY = Duration.ofMillis(250);

  /** One batch is decided, one waits for its turn. */
  private static final int MOST_IN_HAND = 2;

  /** While the ledger is asked where to begin, its answer is looked for so often. */
  private static final Duration SHORT_POLL = Duration.ofMillis(10);

  /** The ledger ends its statements well within this. */
  private static final Duration GIVING_UP_LIMIT = Duration.ofSeconds(45);

  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(10);

  private final Consumer<byte[], byte[]> consumer;
  private final TopicWatch topics;
  private final String sharedTopic;
  private final IngestConfig config;
  private final Partitions partitions;
  private final Placer placer;
  private final Decider decider;
  private final LedgerThread ledgerThread = new LedgerThread();
  private final Deque<Pending<Verdict>> inHand = new ArrayDeque<>();
  private final Backoff backoff;
  private final HealthBoard board;
  private final IngestStats stats;
  private @Nullable Pending<Verdict> trying;
  private long holdsTriedNanos = System.nanoTime();
  private boolean pollFailed;

  /**
   * One for some topics.
   *
   * @param sharedTopic the topic on which only room in the whole ledger is ever waited for
   */
  IngestLoop(
      Consumer<byte[], byte[]> consumer,
      MetadataWatch metadata,
      TopicFacts facts,
      Ledger ledger,
      Decider decider,
      Pattern topics,
      String sharedTopic,
      IngestConfig config,
      IngestStats stats) {
    this.consumer = consumer;
    this.topics = new TopicWatch(metadata, facts);
    this.decider = decider;
    this.sharedTopic = sharedTopic;
    this.config = config;
    this.partitions = new Partitions(consumer, this::endWhatIsInHand);
    this.placer = new Placer(partitions, facts, ledger, ledgerThread, decider, this::failed);
    this.backoff = new Backoff(config.retryBase(), config.retryCap(), System::nanoTime);
    this.board = new HealthBoard(stats);
    this.stats = stats;
    consumer.subscribe(topics, partitions);
  }

  /**
   * Notes what the ledger has decided, polls once, and hands on what came.
   *
   * @return how many records were found decided
   */
  public int runOnce() {
    int decided = 0;
    try {
      if (pollFailed) {
        // A poll that fails at once waits for nothing; so the wait has to be here.
        LockSupport.parkNanos(backoff.remaining().toNanos());
        pollFailed = false;
      }
      decided = noteVerdicts();
      placer.note();
      if (backoff.remaining().isZero()) {
        placer.ask();
      }
      tryHeld();
      if (inHand.size() >= MOST_IN_HAND && !oldestEnds()) {
        partitions.rest();
        poll(Duration.ZERO);
      } else if (inHand.size() < MOST_IN_HAND) {
        partitions.goOn();
        ConsumerRecords<byte[], byte[]> polled = poll(pollWait());
        topics.check(partitions);
        handOn(polled);
      }
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

  /** Has what is in hand decided, and leaves the group. */
  @Override
  public void close() {
    close(IngestHealth.State.CLOSED);
  }

  void close(IngestHealth.State state) {
    endWhatIsInHand();
    board.end(state);
    consumer.close(CloseOptions.timeout(CLOSE_LIMIT));
    ledgerThread.close();
  }

  /** Notes a fault that ends the loop. */
  void noteFault(Throwable fault) {
    board.failed(fault);
  }

  private Duration pollWait() {
    if (placer.isWaiting()) {
      return SHORT_POLL;
    }
    Duration wait = config.pollTimeout();
    if (!partitions.held().isEmpty() && HOLD_RETRY.compareTo(wait) < 0) {
      wait = HOLD_RETRY;
    }
    Duration untilRetry = backoff.remaining();
    return untilRetry.isZero() || untilRetry.compareTo(wait) > 0 ? wait : untilRetry;
  }

  private ConsumerRecords<byte[], byte[]> poll(Duration wait) {
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

  /** Hands what was polled to the ledger, in batches. */
  private void handOn(ConsumerRecords<byte[], byte[]> polled) {
    for (List<Share> batch : Batches.of(polled, config.batchRecords(), config.batchBytes())) {
      List<PositionedShare> shares = new ArrayList<>(batch.size());
      for (Share share : batch) {
        Placement.At at = partitions.at(share.partition());
        if (at != null && share.moves(at.row())) {
          requireNotBefore(share, at);
          shares.add(positioned(share, at));
          partitions.advance(share.partition(), share.next());
        }
      }
      handOn(shares);
    }
  }

  private void handOn(List<PositionedShare> shares) {
    if (!shares.isEmpty()) {
      inHand.add(ledgerThread.submit(decider.prepare(shares), shares));
    }
  }

  private PositionedShare positioned(Share share, Placement.At at) {
    return new PositionedShare(
        share,
        new PositionAdvance(at.key(), at.row(), share.next(), whenFull(at.key().topic())),
        partitions.epoch(share.partition()));
  }

  private WhenFull whenFull(String topic) {
    if (!config.holdTopics().contains(topic)) {
      return WhenFull.REJECT;
    }
    return topic.equals(sharedTopic) ? WhenFull.HOLD_FOR_LEDGER : WhenFull.HOLD_FOR_TENANT;
  }

  private static void requireNotBefore(Share share, Placement.At at) {
    if (at.row() != null
        && !share.records().isEmpty()
        && share.records().getFirst().offset() < at.row()) {
      throw new IllegalStateException(
          "%s: offset %d lies before the position %d"
              .formatted(share.partition(), share.records().getFirst().offset(), at.row()));
    }
  }

  /**
   * Tries the records that wait for room, alone: what stands behind them need not be read again.
   */
  private void tryHeld() {
    Map<TopicPartition, Placement.Held> held = partitions.held();
    long now = System.nanoTime();
    if (held.isEmpty()
        || (trying != null && inHand.contains(trying))
        || !backoff.remaining().isZero()
        || now - holdsTriedNanos < HOLD_RETRY.toNanos()) {
      return;
    }
    holdsTriedNanos = now;
    List<PositionedShare> shares = new ArrayList<>();
    held.forEach(
        (partition, wait) -> {
          long offset = wait.record().offset();
          Share alone = new Share(partition, List.of(wait.record()), offset + 1);
          shares.add(positioned(alone, new Placement.At(wait.key(), offset)));
        });
    handOn(shares);
    trying = inHand.peekLast();
  }

  /** Notes what became of the batches that are decided by now. */
  private int noteVerdicts() {
    int decided = 0;
    Pending<Verdict> oldest = inHand.peek();
    while (oldest != null && oldest.isDone()) {
      inHand.remove();
      decided += note(oldest);
      oldest = inHand.peek();
    }
    return decided;
  }

  private int note(Pending<Verdict> batch) {
    Verdict verdict;
    try {
      verdict = batch.result();
    } catch (LedgerException e) {
      List<TopicPartition> open = new ArrayList<>();
      for (PositionedShare share : batch.shares()) {
        if (partitions.isSince(share.partition(), share.epoch())) {
          open.add(share.partition());
        }
      }
      if (!open.isEmpty()) {
        // What was committed is open now; the positions tell.
        partitions.forget(open);
        failed(e);
      }
      return 0;
    }
    if (!verdict.settled().isEmpty()) {
      backoff.succeeded();
    }
    int decided = 0;
    for (Verdict.Settled settled : verdict.settled()) {
      decided += settled.records();
      note(settled);
    }
    noteFenced(verdict.fenced());
    commitAfterwards(verdict.settled());
    return decided;
  }

  private void note(Verdict.Settled settled) {
    PositionedShare share = settled.share();
    TopicPartition partition = share.partition();
    if (!partitions.isSince(partition, share.epoch())) {
      return;
    }
    Verdict.Wait wait = settled.waitsAt();
    Placement.Held held = partitions.held().get(partition);
    if (wait != null) {
      partitions.hold(
          partition,
          new Placement.Held(
              share.advance().partition(), wait.record(), wait.full(), Instant.now()));
    } else if (held != null) {
      partitions.release(partition, held, settled.next());
    }
  }

  private void noteFenced(List<PositionedShare> fenced) {
    List<TopicPartition> lost = new ArrayList<>();
    for (PositionedShare share : fenced) {
      // One that followed from a batch that failed or had to wait was bound to be refused.
      if (!partitions.owns(share.partition())
          || partitions.isSince(share.partition(), share.epoch())) {
        lost.add(share.partition());
      }
    }
    if (!lost.isEmpty()) {
      LOG.warn("another owner has moved {}: dropping what was read of them", lost);
      stats.fenced(lost.size());
      partitions.forget(lost);
    }
  }

  /** Whether the oldest batch in hand ends within the time of a poll. */
  private boolean oldestEnds() {
    Pending<Verdict> oldest = inHand.peek();
    return oldest == null || oldest.endsWithin(config.pollTimeout());
  }

  /** Waits until nothing of this consumer is open in the ledger: committed or rolled back. */
  private void endWhatIsInHand() {
    Pending<Verdict> newest = inHand.peekLast();
    if (newest != null && !newest.endsWithin(GIVING_UP_LIMIT)) {
      LOG.error(
          "the ledger has not ended a batch within {}; the fence keeps it safe", GIVING_UP_LIMIT);
      return;
    }
    noteVerdicts();
  }

  private void commitAfterwards(List<Verdict.Settled> settled) {
    Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
    for (Verdict.Settled one : settled) {
      if (partitions.owns(one.share().partition())) {
        offsets.put(one.share().partition(), new OffsetAndMetadata(one.next()));
      }
    }
    if (offsets.isEmpty()) {
      return;
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

  private void failed(RuntimeException failure) {
    Duration wait = backoff.failed();
    board.failed(failure);
    LOG.warn("trying again in {} ms: {}", wait.toMillis(), WireText.oneLine(failure));
    LOG.debug("the failure", failure);
  }
}
