package io.escapement.ingest;

import io.escapement.ledger.PartitionKey;
import org.jspecify.annotations.Nullable;

/** Where a partition that this consumer owns stands. */
sealed interface Placement {

  /**
   * It is consumed.
   *
   * @param row the position last read from or written to the ledger; null if it has none
   */
  record At(PartitionKey key, @Nullable Long row) implements Placement {}

  /** Nobody may go on without a person: to go on by itself would skip or lose records. */
  record Stop(PartitionKey key, String reason) implements Placement {}

  /** Its position has to be read first. */
  record Later() implements Placement {}
}
