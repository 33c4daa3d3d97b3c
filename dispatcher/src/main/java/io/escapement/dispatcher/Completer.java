package io.escapement.dispatcher;

import io.escapement.ledger.Ledger;
import io.escapement.ledger.LedgerException;
import io.escapement.ledger.Observation;
import io.escapement.ledger.ObserveAnswer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
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

  private final Ledger ledger;
  private final InHand inHand;
  private final Counters counters;
  private final int batchLimit;
  private final BlockingQueue<Completion> queue = new LinkedBlockingQueue<>();
  private final List<Completion> batch = new ArrayList<>();

  Completer(Ledger ledger, InHand inHand, Counters counters, int batchLimit) {
    this.ledger = ledger;
    this.inHand = inHand;
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
      batch.add(first);
      queue.drainTo(batch, batchLimit - 1);
    }
    commit(batch);
    int committed = batch.size();
    batch.clear();
    return committed;
  }

  /** Lets a task go that was completed elsewhere, in its handler's own transaction. */
  void settled(Held held, ObserveAnswer answer) {
    counters.count(answer);
    Instant dueAgain = dueAgain(answer);
    inHand.remove(held);
    held.driver().finished(held.claimed().task(), dueAgain);
  }

  private void commit(List<Completion> completions) {
    List<ObserveAnswer> answers;
    try {
      answers = ledger.observe(completions.stream().map(Completion::seen).toList());
    } catch (LedgerException e) {
      if (e.isTransient()) {
        throw e;
      }
      split(completions, e);
      return;
    }
    for (int i = 0; i < answers.size(); i++) {
      settled(completions.get(i).held(), answers.get(i));
    }
  }

  private void split(List<Completion> completions, LedgerException cause) {
    if (completions.size() > 1) {
      int half = completions.size() / 2;
      commit(completions.subList(0, half));
      commit(completions.subList(half, completions.size()));
      return;
    }
    Completion alone = completions.get(0);
    LOG.warn("task {} could not be completed: {}", alone.seen().task(), cause.getMessage());
    try {
      Observation failed =
          Observation.failed(
              alone.seen().task(),
              alone.seen().attempt(),
              "its completion was refused: " + cause.getMessage());
      settled(alone.held(), ledger.observe(List.of(failed)).get(0));
    } catch (LedgerException e) {
      if (e.isTransient()) {
        throw e;
      }
      // Nothing can be said of it now; its lease runs out and it is tried again.
      LOG.error("task {} is left to its lease: {}", alone.seen().task(), e.getMessage());
      inHand.remove(alone.held());
      alone.held().driver().finished(alone.seen().task(), null);
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
