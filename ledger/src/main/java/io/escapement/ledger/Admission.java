package io.escapement.ledger;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What became of an admission batch. */
public sealed interface Admission {

  /**
   * Committed: one decision for every submission but those of partitions that wait from some record
   * on, in the batch's order. The receipts are in the outbox.
   *
   * @param held the partitions that wait for room
   */
  record Decided(List<Decided.One> decisions, List<Decided.Held> held) implements Admission {
    public Decided {
      decisions = List.copyOf(decisions);
      held = List.copyOf(held);
    }

    /** One decision; {@code reason} is null where the decision says all. */
    public record One(Decision decision, @Nullable String reason) {}

    /**
     * A partition that waits at a record: it and what stands behind it in the partition is
     * undecided, and the partition's position is its offset.
     *
     * @param positionIndex into the batch's positions
     * @param full the budget that has no room: {@link Decision#GLOBAL_FULL} or {@link
     *     Decision#TENANT_FULL}
     */
    public record Held(int positionIndex, long offset, Decision full) {}
  }

  /** Nothing was done: these partitions have another owner now. Read their positions again. */
  record Fenced(List<PartitionKey> partitions) implements Admission {}
}
