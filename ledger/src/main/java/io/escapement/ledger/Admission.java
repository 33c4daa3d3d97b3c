package io.escapement.ledger;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What became of an admission batch. */
public sealed interface Admission {

  /**
   * Committed: one decision for every submission, in the batch's order. The receipts are in the
   * outbox.
   */
  record Decided(List<Decided.One> decisions) implements Admission {
    /** One decision; {@code reason} is null where the decision says all. */
    public record One(Decision decision, @Nullable String reason) {}
  }

  /** Nothing was done: these partitions have another owner now. Read their positions again. */
  record Fenced(List<PartitionKey> partitions) implements Admission {}
}
