package io.escapement.dispatcher;

import io.escapement.ledger.ClaimedTask;
import io.escapement.ledger.LeaseKey;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A task in hand: claimed, and not yet completed. Thread rule: any thread. */
final class Held {

  private final ClaimedTask claimed;
  private final QueueDriver driver;
  private final InHand inHand;
  private final Throttle.@Nullable Permit permit;
  private final long claimedNanos;
  private volatile long leaseFromNanos;
  private @Nullable Thread runner;
  private boolean stopped;
  private boolean ended;

  /**
   * A task that was just claimed.
   *
   * @param claimSentNanos the monotonic clock before the claim was sent: the lease runs from there
   *     at the earliest
   * @param permit is given back when its handler has ended; null where there are no limits
   */
  Held(
      ClaimedTask claimed,
      QueueDriver driver,
      InHand inHand,
      long claimSentNanos,
      Throttle.@Nullable Permit permit) {
    this.claimed = claimed;
    this.driver = driver;
    this.inHand = inHand;
    this.leaseFromNanos = claimSentNanos;
    this.claimedNanos = claimSentNanos;
    this.permit = permit;
  }

  ClaimedTask claimed() {
    return claimed;
  }

  /** Whether a call to the outside does it, and no handler. */
  boolean isCall() {
    return claimed.action() != ClaimedTask.Action.RUN;
  }

  /** The monotonic clock before its claim was sent. */
  long claimedNanos() {
    return claimedNanos;
  }

  /**
   * Settled: no longer in hand.
   *
   * @param dueAgain when the task is due again; null if it is not
   */
  void letGo(@Nullable Instant dueAgain) {
    inHand.remove(this);
    driver.finished(claimed, dueAgain);
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

  /**
   * A call to the outside begins. It is never interrupted: what it learns is worth knowing.
   *
   * @return false if the task was stopped before it began
   */
  synchronized boolean beginCall() {
    return !stopped;
  }

  /** What is left of the lease by the monotonic clock, from before it was asked for. */
  Duration leaseLeft() {
    return claimed.lease().minusNanos(System.nanoTime() - leaseFromNanos);
  }

  /** Leave to call its channel that was taken before it was claimed; null if none was. */
  Breakers.@Nullable Pass pass() {
    return permit == null ? null : permit.pass();
  }

  /** What a call came to is known, be it that it did not answer in time. */
  synchronized void endCall() {
    ended = true;
  }

  /** A call has returned, perhaps long after its time. */
  void callReturned() {
    if (permit != null) {
      permit.giveBack();
    }
    driver.handlerEnded();
  }

  /** Unbinds the handler's thread; an interrupt meant for this task does not reach the next. */
  synchronized void end() {
    runner = null;
    ended = true;
    Thread.interrupted();
    if (permit != null) {
      permit.giveBack();
    }
    driver.handlerEnded();
  }

  /** Gives back what a handler would have used that never began. */
  void neverBegan() {
    if (permit != null) {
      permit.annul();
    }
  }

  /**
   * The lease is lost: the handler is told, and what it holds back here is let go.
   *
   * @return whether a handler still runs
   */
  boolean lose() {
    stop();
    letGo(null);
    return isRunning();
  }

  /** Whether its handler has ended, and only its completion is waited for. */
  synchronized boolean hasEnded() {
    return ended;
  }

  /** Whether its handler has begun and not ended. */
  synchronized boolean isRunning() {
    return runner != null && !ended;
  }

  /** Interrupts the handler, or keeps it from beginning: nothing of it will be committed. */
  synchronized void stop() {
    stopped = true;
    if (runner != null) {
      runner.interrupt();
    }
  }
}
