package io.escapement.dispatcher;

import io.escapement.ledger.LeaseKey;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.RenewAnswer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the leases of everything in hand with one statement a round, and brings back what the
 * ledger says of them: cancellations asked for, leases lost. A lease is renewed when a third of it
 * is gone.
 */
final class Renewer {

  private static final Logger LOG = LoggerFactory.getLogger(Renewer.class);
  private static final long LONGEST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long SHORTEST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
  private static final int BATCH = 5_000;

  /** A lease shorter than this may not wait for the renewer's next round to be noticed. */
  private static final long SHORT_LEASE_NANOS = 4 * LONGEST_WAIT_NANOS;

  private final Ledger ledger;
  private final HandlerPool pool;
  private final Counters counters;
  private final Semaphore noticed = new Semaphore(0);
  private final List<InHand> inHand = new ArrayList<>();

  Renewer(Ledger ledger, HandlerPool pool, Counters counters) {
    this.ledger = ledger;
    this.pool = pool;
    this.counters = counters;
  }

  /** Watches what one driver has in hand; to be called before the first round. */
  void watch(InHand one) {
    inHand.add(one);
  }

  /** Told of each task that is taken in hand; any thread. */
  void notice(Held held) {
    if (held.claimed().lease().toNanos() < SHORT_LEASE_NANOS) {
      noticed.release();
    }
  }

  /** Renews what wants it, then waits until something may want it again. */
  int runOnce() throws InterruptedException {
    pool.handBackOld();
    long now = System.nanoTime();
    List<Held> wanting = new ArrayList<>();
    long wait = LONGEST_WAIT_NANOS;
    for (InHand one : inHand) {
      for (Held held : one.all()) {
        if (held.wantsRenewal(now)) {
          wanting.add(held);
        }
        wait = Math.min(wait, held.claimed().lease().toNanos() / 10);
      }
    }
    for (int from = 0; from < wanting.size(); from += BATCH) {
      renew(wanting.subList(from, Math.min(from + BATCH, wanting.size())));
    }
    if (noticed.tryAcquire(Math.max(wait, SHORTEST_WAIT_NANOS), TimeUnit.NANOSECONDS)) {
      noticed.drainPermits();
    }
    return wanting.size();
  }

  private void renew(List<Held> held) {
    List<LeaseKey> leases = held.stream().map(Held::key).toList();
    long sent = System.nanoTime();
    List<RenewAnswer> answers = ledger.renew(leases);
    for (int i = 0; i < answers.size(); i++) {
      Held one = held.get(i);
      switch (answers.get(i)) {
        case RenewAnswer.Renewed renewed -> one.renewed(sent);
        case RenewAnswer.CancelRequested cancel -> {
          one.renewed(sent);
          one.stop();
        }
        case RenewAnswer.Busy busy -> LOG.debug("lease of task {} is locked", busy.task());
        case RenewAnswer.Lost lost -> {
          // It may just have been completed; then it is in hand no more, or will soon not be.
          if (!one.isGone() && !one.hasEnded()) {
            lose(one);
          }
        }
      }
    }
  }

  private void lose(Held held) {
    LOG.info("lease of task {}, attempt {} is lost", held.key().task(), held.key().attempt());
    counters.leasesLost.increment();
    if (held.lose()) {
      pool.replace(held);
    }
  }
}
