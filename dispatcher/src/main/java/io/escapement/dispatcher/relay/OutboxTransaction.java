package io.escapement.dispatcher.relay;

import io.escapement.ledger.Lsn;
import io.escapement.ledger.OutboxEntry;
import java.util.List;

/**
 * The outbox rows of one database transaction.
 *
 * @param commit the end of its commit record: the order in which transactions became true
 * @param rows none for a transaction that only wrote a heartbeat
 */
record OutboxTransaction(Lsn commit, List<OutboxEntry> rows) {
  OutboxTransaction {
    rows = List.copyOf(rows);
  }
}
