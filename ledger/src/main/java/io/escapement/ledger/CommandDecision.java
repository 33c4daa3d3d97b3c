package io.escapement.ledger;

import java.util.Locale;

/** What became of one command; the names in the receipts are these in lower case. */
public enum CommandDecision {
  /** Its operator function was called; the results say what that did. */
  EXECUTED,
  /** Executed before, for the same source and id; the results are those of that time. */
  REPLAY,
  /** Nothing was done; the reason names the attribute or argument. */
  INVALID,
  /** The value is larger than the limit; nothing was done. */
  OVERSIZE;

  /** The word used on the wire and in SQL. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The decision for a word from the wire. */
  public static CommandDecision of(String word) {
    return valueOf(word.toUpperCase(Locale.ROOT));
  }
}
