package io.escapement.ledger;

import java.time.Instant;
import java.util.List;

/**
 * What a dispatcher must know of its slots up to a moment.
 *
 * @param entries in no particular order
 * @param completeUntil every task of the slots that is due, or whose lease ends, before this moment
 *     is among the entries: the moment asked for, or less where a slot or a lane holds more than
 *     its share of the limit
 * @param readAt the database's clock at the reading
 */
public record Horizon(List<Entry> entries, Instant completeUntil, Instant readAt) {

  /**
   * A task and when something is to be done about it.
   *
   * @param wakeAt when it is due or, if {@code claimed}, when its lease ends
   */
  public record Entry(long task, String tenant, int slot, Instant wakeAt, boolean claimed) {}
}
