package io.escapement.ledger;

/** What redriving one task came to. */
public enum Redriven {
  /** It is back: scheduled, sought for, or parked if nothing may be sent again. */
  REDRIVEN,
  /** It has had another attempt since the caller looked; nothing was changed. */
  WRONG_ATTEMPT,
  /** It is not quarantined. */
  NOT_QUARANTINED,
  /** Somebody else holds it just now (bulk only). */
  BUSY,
  /** No such task. */
  NOT_FOUND
}
