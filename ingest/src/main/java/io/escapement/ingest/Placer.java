package io.escapement.ingest;

import io.escapement.ledger.Ledger;
import io.escapement.ledger.LedgerException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;

/**
 * Has the ledger asked, on its thread, what must be known before records can be decided: the limit
 * for a value, and where partitions go on; and puts the partitions there.
 *
 * <p>What is asked comes behind what was given to the ledger before, so that a position that is
 * read can't be older than a batch whose outcome is open. Thread rule: the consumer's thread.
 */
final class Placer {

  /** The payload limit may be changed in the ledger at any time; it is heeded within this. */
  private static final Duration LIMIT_AGE = Duration.ofSeconds(10);

  /** So often it is looked whether somebody has said where a stopped partition goes on. */
  private static final Duration STOPPED_RETRY = Duration.ofSeconds(2);

  private final Partitions partitions;
  private final Placements placements;
  private final Ledger ledger;
  private final LedgerThread ledgerThread;
  private final Decider decider;
  private final Consumer<RuntimeException> failed;
  private @Nullable Pending<Map<TopicPartition, Placements.Found>> placing;
  private Set<TopicPartition> asked = Set.of();
  private @Nullable Pending<Integer> reading;
  private boolean limitKnown;
  private long limitNanos;
  private long stoppedTriedNanos = System.nanoTime();

  /**
   * One for some partitions.
   *
   * @param failed hears of failures; what is asked is asked again
   */
  Placer(
      Partitions partitions,
      TopicFacts facts,
      Ledger ledger,
      LedgerThread ledgerThread,
      Decider decider,
      Consumer<RuntimeException> failed) {
    this.partitions = partitions;
    this.placements = new Placements(facts, ledger);
    this.ledger = ledger;
    this.ledgerThread = ledgerThread;
    this.decider = decider;
    this.failed = failed;
  }

  /** Whether an answer is waited for without which nothing goes on. */
  boolean isWaiting() {
    return placing != null || !limitKnown;
  }

  /** Notes answers that have come. */
  void note() {
    if (reading != null && reading.isDone()) {
      Pending<Integer> done = reading;
      reading = null;
      try {
        decider.heed(done.result());
        limitKnown = true;
        limitNanos = System.nanoTime();
      } catch (LedgerException e) {
        failed.accept(e);
      }
    }
    if (placing != null && placing.isDone()) {
      Pending<Map<TopicPartition, Placements.Found>> done = placing;
      placing = null;
      try {
        place(done.result());
      } catch (LedgerException | KafkaException e) {
        if (e instanceof InterruptException) {
          throw e;
        }
        // Partitions that have their place go on.
        failed.accept(e);
      }
    }
  }

  /** Asks for what is not known, or old. */
  void ask() {
    boolean old = !limitKnown || System.nanoTime() - limitNanos > LIMIT_AGE.toNanos();
    if (old && reading == null) {
      reading = ledgerThread.submit(() -> ledger.settings().maxPayloadBytes(), List.of());
    }
    if (placing != null || !limitKnown) {
      return;
    }
    Set<TopicPartition> open = partitions.waiting();
    long now = System.nanoTime();
    if (now - stoppedTriedNanos > STOPPED_RETRY.toNanos()) {
      stoppedTriedNanos = now;
      open.addAll(partitions.stopped().keySet());
    }
    if (!open.isEmpty()) {
      asked = Set.copyOf(open);
      placing = ledgerThread.submit(() -> placements.of(open), List.of());
    }
  }

  private void place(Map<TopicPartition, Placements.Found> found) {
    Set<TopicPartition> open = partitions.waiting();
    Set<TopicPartition> missing = new HashSet<>(asked);
    missing.removeAll(found.keySet());
    missing.retainAll(open);
    open.addAll(partitions.stopped().keySet());
    found.forEach(
        (partition, place) -> {
          if (open.contains(partition)) {
            partitions.place(partition, place);
          }
        });
    if (!missing.isEmpty()) {
      failed.accept(new KafkaException("Kafka does not know " + missing));
    }
  }
}
