package io.escapement.ingest;

import io.escapement.ledger.Decision;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * What the ledger has committed of a batch.
 *
 * @param fenced shares of partitions that have another owner now; nothing of them was decided
 */
record Verdict(List<Settled> settled, List<PositionedShare> fenced) {

  Verdict {
    settled = List.copyOf(settled);
    fenced = List.copyOf(fenced);
  }

  /**
   * A share that was decided, up to where its partition waits for room if it does.
   *
   * @param next the position that was committed
   */
  record Settled(PositionedShare share, int records, long next, @Nullable Wait waitsAt) {}

  /**
   * The record at which a partition waits for room.
   *
   * @param full the budget without room
   */
  record Wait(ConsumerRecord<byte[], byte[]> record, Decision full) {}
}
