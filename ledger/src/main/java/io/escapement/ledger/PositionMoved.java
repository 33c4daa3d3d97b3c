package io.escapement.ledger;

/** What became of an operator's word where a partition goes on. */
public enum PositionMoved {
  /** It goes on there. */
  MOVED,
  /** Its position is not the one that the operator has seen. */
  STALE,
  /** The ledger has no position of it. */
  NOT_FOUND
}
