package io.escapement.ledger;

import org.jspecify.annotations.Nullable;

/**
 * The fence of one partition in an admission: its position moves from what this consumer last read
 * or wrote to what follows the batch, or the whole batch is undone.
 *
 * @param expected the position last read or written; null if the ledger had none
 * @param next the position after the batch: the next offset to be read
 * @param whenFull what becomes of records for which there is no room
 */
public record PositionAdvance(
    PartitionKey partition, @Nullable Long expected, long next, WhenFull whenFull) {

  /** The policy of a full budget. */
  public enum WhenFull {
    /** The record is refused. */
    REJECT(null),
    /** The partition waits for room in the whole ledger; a full tenant is refused. */
    HOLD_FOR_LEDGER("global"),
    /** The partition waits for room, the ledger's and the tenant's: it is the tenant's own. */
    HOLD_FOR_TENANT("tenant");

    private final @Nullable String word;

    WhenFull(@Nullable String word) {
      this.word = word;
    }

    /** As the functions of the schema spell it. */
    @Nullable String word() {
      return word;
    }
  }

  /** A position whose partition does not wait. */
  public PositionAdvance(PartitionKey partition, @Nullable Long expected, long next) {
    this(partition, expected, next, WhenFull.REJECT);
  }

  public PositionAdvance {
    if (next < 0 || (expected != null && next < expected)) {
      throw new IllegalArgumentException(partition + " can't go from " + expected + " to " + next);
    }
  }
}
