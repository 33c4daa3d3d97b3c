package io.escapement.ledger;

/** What quarantining one task came to. */
public enum Quarantined {
  /** It is out of service; it keeps its seat. */
  QUARANTINED,
  /** It runs: wait for its end, or cancel it. */
  RUNNING,
  /** It was quarantined before. */
  ALREADY_QUARANTINED,
  /** It has ended or is parked. */
  NOT_WAITING,
  /** No such task. */
  NOT_FOUND
}
