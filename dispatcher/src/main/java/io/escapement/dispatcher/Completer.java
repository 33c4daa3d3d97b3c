package io.escapement.dispatcher;

import io.escapement.ledger.Ledger;
import io.escapement.ledger.LedgerException;
import io.escapement.ledger.Observation;
import io.escapement.ledger.ObserveAnswer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Commits what handlers saw, many tasks to a transaction: what arrives while one commit is under
 * way goes into the next.
 *
 * <p>Failure: trouble that passes is retried whole, which also settles a commit whose answer was
 * lost, for an attempt that is settled answers so. What a transaction is refused for is halved
 * until the one row that is at fault stands alone; that one is recorded as failed. Leases are kept
 * meanwhile, since the tasks are still in hand. The queue is bounded by what may be in hand.
 */
final class Completer {

  private record Completion(Held held, Observation seen) {}

  private static final Logger LOG = LoggerFactory.getLogger(Completer.class);
  private static final long WAIT_MILLIS = 200;

  /** Effects in one transaction; a batch that is larger by its last one is still taken. */
  private static final long BATCH_BYTES = 8L << 20;

  private final Ledger ledger;
  private final Counters counters;
  private final int batchLimit;
  private final BlockingQueue<Completion> queue = new LinkedBlockingQueue<>();
  private final List<Completion> batch = new ArrayList<>();

  Completer(Ledger ledger, Counters counters, int batchLimit) {
    this.ledger = ledger;
    this.counters = counters;
    this.batchLimit = batchLimit;
  }

  /** Hands an observation over; any thread. */
  void add(Held held, Observation seen) {
    queue.add(new Completion(held, seen));
  }

  /** Commits one batch, or waits a little for one. A batch that failed is the next one again. */
  int runOnce() throws InterruptedException {
    if (batch.isEmpty()) {
      Completion first = queue.poll(WAIT_MILLIS, TimeUnit.MILLISECONDS);
      if (first == null) {
        return 0;
      }
      fill(first);
    }
    int size = batch.size();
    commit(List.copyOf(batch));
    return size;
  }

  /** Takes what waits into the batch: no task twice, and bounded by number and bytes. */
  private void fill(Completion first) {
    Set<Long> tasks = new HashSet<>();
    long bytes = 0;
    Completion next = first;
    while (next != null) {
      if (!tasks.add(next.seen().task())) {
        // Another attempt of the same task; it has its turn in the next batch.
        queue.add(next);
        return;
      }
      batch.add(next);
      byte[] effect = next.seen().effect();
      bytes += effect == null ? 0 : effect.length;
      next = batch.size() < batchLimit && bytes < BATCH_BYTES ? queue.poll() : null;
    }
  }

  /** Lets a task go that was completed elsewhere, in its handler's own transaction. */
  void settled(Held held, ObserveAnswer answer) {
    counters.count(answer);
    Instant dueAgain = dueAgain(answer);
    held.letGo(dueAgain);
  }

  private void commit(List<Completion> completions) {
    List<ObserveAnswer> answers;
    try {
      answers = ledger.observe(completions.stream().map(Completion::seen).toList());
    } catch (LedgerException e) {
      if (completions.size() > 1 && (e.blamesContent() || e.blamesSize())) {
        int half = completions.size() / 2;
        commit(completions.subList(0, half));
        commit(completions.subList(half, completions.size()));
      } else if (e.blamesContent()) {
        recordAsFailed(completions.get(0), e);
      } else {
        throw e;
      }
      return;
    }
    for (int i = 0; i < answers.size(); i++) {
      batch.remove(completions.get(i));
      settled(completions.get(i).held(), answers.get(i));
    }
  }

  private void recordAsFailed(Completion alone, LedgerException cause) {
    LOG.warn("task {} could not be completed: {}", alone.seen().task(), cause.getMessage());
    try {
      Observation failed =
          Observation.failed(
              alone.seen().task(),
              alone.seen().attempt(),
              "its completion was refused: " + cause.getMessage());
      ObserveAnswer answer = ledger.observe(List.of(failed)).get(0);
      batch.remove(alone);
      settled(alone.held(), answer);
    } catch (LedgerException e) {
      if (!e.blamesContent()) {
        throw e;
      }
      // Nothing can be said of it now; its lease runs out and it is tried again.
      LOG.error("task {} is left to its lease: {}", alone.seen().task(), e.getMessage());
      batch.remove(alone);
      alone.held().letGo(null);
    }
  }

  private static @Nullable Instant dueAgain(ObserveAnswer answer) {
    return switch (answer) {
      case ObserveAnswer.Applied applied -> applied.dueAt();
      case ObserveAnswer.Late late -> late.dueAt();
      case ObserveAnswer.Repeated repeated -> null;
      case ObserveAnswer.NoSuchAttempt none -> null;
    };
  }
}
