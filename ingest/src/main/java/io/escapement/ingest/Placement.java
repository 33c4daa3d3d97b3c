package io.escapement.ingest;

import io.escapement.ledger.Decision;
import io.escapement.ledger.PartitionKey;
import java.time.Instant;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/** Where a partition that this consumer owns stands. */
sealed interface Placement {

  /**
   * It is consumed.
   *
   * @param row the position that follows what was given to the ledger; null if it has none
   */
  record At(PartitionKey key, @Nullable Long row) implements Placement {}

  /** Nobody may go on without a person: to go on by itself would skip or lose records. */
  record Stop(PartitionKey key, String reason) implements Placement {}

  /**
   * It waits at a record for room; the ledger's position is the record's offset.
   *
   * @param full the budget without room
   * @param since when this process began to wait
   */
  record Held(PartitionKey key, ConsumerRecord<byte[], byte[]> record, Decision full, Instant since)
      implements Placement {}

  /** Its position has to be read first. */
  record Later() implements Placement {}
}
