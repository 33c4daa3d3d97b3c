package io.escapement.ledger;

/** A person's word on a parked task. */
public enum Resolution {
  /** The call was accepted. */
  DONE,
  /** Give it up. */
  FAILED,
  /** Nothing was accepted: send it again, with fresh tries. */
  RETRY
}
