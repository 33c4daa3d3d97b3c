package io.escapement.dispatcher;

import io.escapement.ledger.ClaimAnswer;
import io.escapement.ledger.ClaimedTask;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.WorkFilter;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims tasks for one driver and has them done, by handlers or by calls to the outside.
 *
 * <p>Failure: a claim whose answer was lost is looked for by its owner's name before the next one;
 * what it holds is run. What it did not get, or is not found, is the sweep's. Thread rule: the
 * driver's thread.
 */
final class Claimer {

  private record Lost(String owner, Map<Long, Throttle.@Nullable Permit> tasks, long sentNanos) {}

  private static final Logger LOG = LoggerFactory.getLogger(Claimer.class);

  private final String incarnation;
  private final Ledger ledger;
  private final InHand inHand;
  private final HandlerPool pool;
  private final ChannelCalls calls;
  private final Counters counters;
  private final int threadShare;
  private long claims;
  private @Nullable Lost lost;

  /**
   * A claimer.
   *
   * @param incarnation names this process's present life and this driver; no other may have it
   * @param threadShare handlers' threads that are this queue's if it wants them
   */
  Claimer(
      String incarnation,
      Ledger ledger,
      InHand inHand,
      HandlerPool pool,
      ChannelCalls calls,
      Counters counters,
      int threadShare) {
    this.incarnation = incarnation;
    this.ledger = ledger;
    this.inHand = inHand;
    this.pool = pool;
    this.calls = calls;
    this.counters = counters;
    this.threadShare = threadShare;
  }

  /**
   * How many tasks that handlers do can begin soon. A queue that has fewer in hand than its share
   * of the threads may claim so many though all of them are busy, else another queue's backlog
   * would take each thread that becomes free.
   */
  int startable() {
    return Math.max(0, Math.max(pool.startable(), threadShare - inHand.handled()));
  }

  /** Reserves room for tasks. */
  int reserve(int wanted) {
    return wanted <= 0 ? 0 : inHand.reserve(wanted);
  }

  void unreserve(int unused) {
    inHand.unreserve(unused);
  }

  /** Claims tasks, room for which was reserved; answers how many were claimed. */
  int claim(Map<Long, Throttle.@Nullable Permit> tasks, WorkFilter work, QueueDriver driver) {
    String owner = incarnation + "/" + ++claims;
    long sent = System.nanoTime();
    List<ClaimAnswer> answers;
    try {
      answers = ledger.claim(owner, work, tasks.keySet());
    } catch (RuntimeException | Error e) {
      lost = new Lost(owner, tasks, sent);
      throw e;
    }
    int claimed = 0;
    for (ClaimAnswer answer : answers) {
      switch (answer) {
        case ClaimAnswer.Claimed got -> {
          Throttle.Permit permit = tasks.remove(got.lease().task());
          begin(got.lease(), driver, sent, permit);
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
    // Those that are left were not to be had.
    annul(tasks);
    inHand.unreserve(tasks.size());
    return claimed;
  }

  /** Gives permits back that were not used. */
  static void annul(Map<Long, Throttle.@Nullable Permit> tasks) {
    for (Throttle.Permit permit : tasks.values()) {
      if (permit != null) {
        permit.annul();
      }
    }
  }

  private void begin(
      ClaimedTask task, QueueDriver driver, long sentNanos, Throttle.@Nullable Permit permit) {
    Held held = new Held(task, driver, inHand, sentNanos, permit);
    driver.nowInHand(held.key());
    inHand.add(held);
    counters.claimed.increment();
    if (held.isCall()) {
      calls.submit(held);
    } else {
      pool.submit(held);
    }
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
      Throttle.Permit permit = gone.tasks().remove(task.task());
      begin(task, driver, gone.sentNanos(), permit);
    }
    annul(gone.tasks());
    driver.unclaimed(List.copyOf(gone.tasks().keySet()));
    inHand.unreserve(gone.tasks().size());
  }
}
