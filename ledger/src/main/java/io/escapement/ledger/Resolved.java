package io.escapement.ledger;

/** What resolving one task came to. */
public enum Resolved {
  /** It is done. */
  DONE,
  /** It is given up. */
  FAILED,
  /** It is sent again. */
  SCHEDULED,
  /** It was to be sent again, but its cancellation had been asked for. */
  CANCELLED,
  /** It is not parked: perhaps somebody was quicker. */
  NOT_PARKED,
  /** Somebody else holds it just now (bulk only). */
  BUSY,
  /** No such task. */
  NOT_FOUND
}
