package io.escapement.ledger;

import java.util.List;

/**
 * Outbox rows past the grace time.
 *
 * @param written once everything up to here is relayed, all of the rows are
 */
public record Prunable(List<Long> ids, Lsn written) {
  public Prunable {
    ids = List.copyOf(ids);
  }
}
