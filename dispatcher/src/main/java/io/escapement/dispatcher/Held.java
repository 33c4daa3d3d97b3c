package io.escapement.dispatcher;

import io.escapement.ledger.ClaimedTask;
import io.escapement.ledger.LeaseKey;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A task in hand: claimed, and not yet completed. Thread rule: any thread. */
final class Held {

  private final ClaimedTask claimed;
  private final QueueDriver driver;
  private final InHand inHand;
  private volatile long leaseFromNanos;
  private volatile boolean completesItself;
  private @Nullable Thread runner;
  private boolean stopped;

  /**
   * A task that was just claimed.
   *
   * @param claimSentNanos the monotonic clock before the claim was sent: the lease runs from there
   *     at the earliest
   */
  Held(ClaimedTask claimed, QueueDriver driver, InHand inHand, long claimSentNanos) {
    this.claimed = claimed;
    this.driver = driver;
    this.inHand = inHand;
    this.leaseFromNanos = claimSentNanos;
  }

  ClaimedTask claimed() {
    return claimed;
  }

  /**
   * Settled: no longer in hand.
   *
   * @param dueAgain when the task is due again; null if it is not
   */
  void letGo(@Nullable Instant dueAgain) {
    inHand.remove(this);
    driver.finished(key(), dueAgain);
  }

  /** Whether it was let go. */
  boolean isGone() {
    return !inHand.contains(this);
  }

  LeaseKey key() {
    return new LeaseKey(claimed.task(), claimed.attempt());
  }

  void renewed(long sentNanos) {
    leaseFromNanos = sentNanos;
  }

  /**
   * Marks that the handler's own transaction completes the task: it holds the row, so a renewal
   * would only see it locked, and take the lease that the transaction has extended for lost.
   */
  void completesItself() {
    completesItself = true;
  }

  /** Whether more than a third of the lease is gone. */
  boolean wantsRenewal(long nowNanos) {
    return !completesItself && nowNanos - leaseFromNanos > claimed.lease().toNanos() / 3;
  }

  /**
   * Binds the handler's thread.
   *
   * @return false if the task was stopped before it began
   */
  synchronized boolean begin(Thread thread) {
    if (stopped) {
      return false;
    }
    runner = thread;
    return true;
  }

  /** Unbinds the handler's thread; an interrupt meant for this task does not reach the next. */
  synchronized void end() {
    runner = null;
    Thread.interrupted();
  }

  /** Interrupts the handler, or keeps it from beginning: nothing of it will be committed. */
  synchronized void stop() {
    stopped = true;
    if (runner != null) {
      runner.interrupt();
    }
  }
}
