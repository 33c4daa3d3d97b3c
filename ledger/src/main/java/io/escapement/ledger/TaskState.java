package io.escapement.ledger;

/** Where a task is; the order is the schema's, waiting states first. */
public enum TaskState {
  /** Waits for its due time. */
  SCHEDULED,
  /** An attempt's outcome is not known; waits to ask or to send again, or, parked, for a person. */
  UNKNOWN,
  /** One worker holds an attempt under a lease. */
  CLAIMED,
  /** Set aside by its kind's exhaustion policy or by an operator. */
  QUARANTINED,
  /** Done, with evidence. */
  DONE,
  /** Surely failed. */
  FAILED,
  /** Cancelled with nothing at large. */
  CANCELLED,
  /** Switched off by the recipient's preference before anything was sent. */
  SUPPRESSED;

  /** Whether nothing will ever change it. */
  public boolean isTerminal() {
    return compareTo(DONE) >= 0;
  }
}
