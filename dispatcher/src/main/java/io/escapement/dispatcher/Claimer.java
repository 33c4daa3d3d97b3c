package io.escapement.dispatcher;

import io.escapement.ledger.ClaimAnswer;
import io.escapement.ledger.ClaimedTask;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.WorkFilter;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims tasks for one driver and hands them to the handlers.
 *
 * <p>Failure: a claim whose answer was lost is looked for by its owner's name before the next one;
 * what it holds is run. What it did not get, or is not found, is the sweep's. Thread rule: the
 * driver's thread.
 */
final class Claimer {

  private record Lost(String owner, List<Long> tasks, long sentNanos) {}

  private static final Logger LOG = LoggerFactory.getLogger(Claimer.class);

  private final String incarnation;
  private final Ledger ledger;
  private final InHand inHand;
  private final HandlerPool pool;
  private final Counters counters;
  private long claims;
  private @Nullable Lost lost;

  /**
   * A claimer.
   *
   * @param incarnation names this process's present life and this driver; no other may have it
   */
  Claimer(String incarnation, Ledger ledger, InHand inHand, HandlerPool pool, Counters counters) {
    this.incarnation = incarnation;
    this.ledger = ledger;
    this.inHand = inHand;
    this.pool = pool;
    this.counters = counters;
  }

  int reserve(int wanted) {
    return inHand.reserve(wanted);
  }

  void unreserve(int unused) {
    inHand.unreserve(unused);
  }

  /** Claims tasks, room for which was reserved; answers how many were claimed. */
  int claim(List<Long> tasks, WorkFilter work, QueueDriver driver) {
    String owner = incarnation + "/" + ++claims;
    long sent = System.nanoTime();
    List<ClaimAnswer> answers;
    try {
      answers = ledger.claim(owner, work, tasks);
    } catch (RuntimeException | Error e) {
      lost = new Lost(owner, tasks, sent);
      throw e;
    }
    int claimed = 0;
    for (ClaimAnswer answer : answers) {
      switch (answer) {
        case ClaimAnswer.Claimed got -> {
          begin(got.lease(), driver, sent);
          claimed++;
        }
        case ClaimAnswer.NotDue early -> {
          counters.notDue.increment();
          driver.notDue(early.task(), early.dueAt());
        }
        case ClaimAnswer.Settled settled -> driver.gone(settled.task());
        case ClaimAnswer.Paused paused -> driver.gone(paused.task());
        case ClaimAnswer.NotClaimable other -> driver.gone(other.task());
      }
    }
    inHand.unreserve(tasks.size() - claimed);
    return claimed;
  }

  private void begin(ClaimedTask task, QueueDriver driver, long sentNanos) {
    Held held = new Held(task, driver, inHand, sentNanos);
    driver.nowInHand(held.key());
    inHand.add(held);
    counters.claimed.increment();
    pool.submit(held);
  }

  /** Finds what a claim holds whose answer never came; to be called before the next claim. */
  void recover(QueueDriver driver) {
    Lost gone = lost;
    if (gone == null) {
      return;
    }
    List<ClaimedTask> held = ledger.claimedBy(gone.owner());
    LOG.info("the answer to claim {} was lost; it holds {} tasks", gone.owner(), held.size());
    lost = null;
    for (ClaimedTask task : held) {
      begin(task, driver, gone.sentNanos());
    }
    driver.unclaimed(
        gone.tasks().stream()
            .filter(task -> held.stream().noneMatch(h -> h.task() == task))
            .toList());
    inHand.unreserve(gone.tasks().size() - held.size());
  }
}
