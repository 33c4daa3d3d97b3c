package io.escapement.ingest;

import io.escapement.ledger.LedgerException;
import java.util.List;
import java.util.concurrent.Callable;

/** What the loop has the ledger do with records: admit requests, or execute commands. */
interface Decider {

  /**
   * Heeds the ledger's limit for a value; called before anything is prepared, and again when it may
   * have changed. The consumer's thread.
   */
  void heed(int maxPayloadBytes);

  /**
   * Reads shares, on the consumer's thread.
   *
   * @return what the ledger's thread is to do; it throws {@link LedgerException}, and then every
   *     position must be read again
   */
  Callable<Verdict> prepare(List<PositionedShare> shares);
}
