package io.escapement.ledger;

/** What a channel promises about the calls that are made to it. */
public enum Contract {
  /** The effect is written in this database, in the completing transaction. */
  TRANSACTIONAL,
  /** A repeated key returns the first result, for as long as keys are remembered. */
  IDEMPOTENT,
  /** What was accepted can be looked up by reference, some time after the call at the latest. */
  QUERYABLE,
  /** Nothing. */
  OPAQUE
}
