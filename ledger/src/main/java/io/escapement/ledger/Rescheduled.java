package io.escapement.ledger;

/** What rescheduling one task came to. */
public enum Rescheduled {
  /** It is due then. */
  RESCHEDULED,
  /** It runs. */
  RUNNING,
  /** It has had another attempt since the caller looked; nothing was changed. */
  WRONG_ATTEMPT,
  /** It has ended, is parked or quarantined. */
  NOT_WAITING,
  /** No such task. */
  NOT_FOUND
}
