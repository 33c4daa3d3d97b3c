package io.escapement.dispatcher;

import io.escapement.ledger.ClaimedTask;
import io.escapement.ledger.LeaseKey;
import org.jspecify.annotations.Nullable;

/** A task in hand: claimed, and not yet completed. Thread rule: any thread. */
final class Held {

  private final ClaimedTask claimed;
  private final QueueDriver driver;
  private volatile long leaseFromNanos;
  private @Nullable Thread runner;
  private boolean stopped;

  /**
   * A task that was just claimed.
   *
   * @param claimSentNanos the monotonic clock before the claim was sent: the lease runs from there
   *     at the earliest
   */
  Held(ClaimedTask claimed, QueueDriver driver, long claimSentNanos) {
    this.claimed = claimed;
    this.driver = driver;
    this.leaseFromNanos = claimSentNanos;
  }

  ClaimedTask claimed() {
    return claimed;
  }

  QueueDriver driver() {
    return driver;
  }

  LeaseKey key() {
    return new LeaseKey(claimed.task(), claimed.attempt());
  }

  /** The monotonic clock from which the present lease runs. */
  long leaseFromNanos() {
    return leaseFromNanos;
  }

  void renewed(long sentNanos) {
    leaseFromNanos = sentNanos;
  }

  /** Whether more than a third of the lease is gone. */
  boolean wantsRenewal(long nowNanos) {
    return nowNanos - leaseFromNanos > claimed.lease().toNanos() / 3;
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
