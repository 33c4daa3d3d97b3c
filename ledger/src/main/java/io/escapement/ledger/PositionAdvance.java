package io.escapement.ledger;

import org.jspecify.annotations.Nullable;

/**
 * The fence of one partition in an admission: its position moves from what this consumer last read
 * or wrote to what follows the batch, or the whole batch is undone.
 *
 * @param expected the position last read or written; null if the ledger had none
 * @param next the position after the batch: the next offset to be read
 */
public record PositionAdvance(PartitionKey partition, @Nullable Long expected, long next) {
  public PositionAdvance {
    if (next < 0 || (expected != null && next < expected)) {
      throw new IllegalArgumentException(partition + " can't go from " + expected + " to " + next);
    }
  }
}
