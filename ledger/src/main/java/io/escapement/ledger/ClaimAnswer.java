package io.escapement.ledger;

import java.time.Instant;

/** What the ledger answers about one task that a dispatcher wanted to claim. */
public sealed interface ClaimAnswer {

  /** The task that was asked for. */
  long task();

  /** Claimed: this worker holds the attempt until the lease ends. */
  record Claimed(ClaimedTask lease) implements ClaimAnswer {
    @Override
    public long task() {
      return lease.task();
    }
  }

  /** Not due by the database's clock; come back then. */
  record NotDue(long task, Instant dueAt) implements ClaimAnswer {}

  /** Its queue, kind, channel or tenant is paused. */
  record Paused(long task) implements ClaimAnswer {}

  /**
   * The claim itself settled it: it had expired, its recipient has switched the channel off, or its
   * key may be forgotten. It has ended or is parked.
   */
  record Settled(long task, TaskState state) implements ClaimAnswer {}

  /** Held by somebody, finished, parked, quarantined, of another kind, or gone. */
  record NotClaimable(long task) implements ClaimAnswer {}
}
