package io.escapement.ledger;

/** What admission answered for one record; the names in the receipts are these in lower case. */
public enum Decision {
  /** The whole promise is committed. */
  ACCEPTED,
  /** Accepted before, with the same tenant, kind, subject and bytes. */
  REPLAY,
  /** The identity is known with another tenant, kind, subject or other bytes. */
  CONFLICT,
  /** The record cannot be a request; the receipt names the attribute. */
  INVALID,
  /** Issued longer ago than the replay window. */
  TOO_OLD,
  /** The value is larger than the limit. */
  OVERSIZE,
  /** The budget of the whole ledger is full. */
  GLOBAL_FULL,
  /** The tenant's budget is full. */
  TENANT_FULL;

  /** The word used on the wire and in SQL. */
  public String word() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }

  /** The decision for a word from the wire. */
  public static Decision of(String word) {
    return valueOf(word.toUpperCase(java.util.Locale.ROOT));
  }
}
