package io.escapement.ledger;

import java.time.Instant;
import java.util.List;

/**
 * A row of the outbox: all events of one transaction, packed.
 *
 * @param id taken before the commit, so its order is not the order of commits
 */
public record OutboxEntry(long id, Instant createdAt, String packed) {

  /** The events, in order. */
  public List<OutboxEvent> events() {
    return OutboxRow.parse(packed);
  }
}
