package io.escapement.ledger;

import org.jspecify.annotations.Nullable;

/**
 * Which tasks an operator means; null is any.
 *
 * @param lastOutcome how the task's last attempt ended
 */
public record TaskFilter(
    @Nullable String kind, @Nullable String channel, @Nullable String lastOutcome) {

  /** Every task. */
  public static final TaskFilter ANY = new TaskFilter(null, null, null);
}
