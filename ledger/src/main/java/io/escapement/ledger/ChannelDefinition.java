package io.escapement.ledger;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Who executes tasks, and what it promises.
 *
 * @param name 1 to 100 letters, digits, dots, underscores and hyphens
 * @param contract what it promises; can't change later
 * @param timeout how long a call may take, 1 ms to 1 h, shorter than the lease of every kind that
 *     uses the channel; null for a transactional channel, which makes no calls
 * @param settle of a queryable channel: how long after a call has ended what it left can be found
 *     at the latest, 0 to 7 days; null for all others
 * @param keyRetention of an idempotent channel: how long after the first call its key is
 *     remembered, 1 s to 10 years; null means for ever, and for all others
 */
public record ChannelDefinition(
    String name,
    Contract contract,
    @Nullable Duration timeout,
    @Nullable Duration settle,
    @Nullable Duration keyRetention) {

  /** A channel that takes keys and remembers them for some time; null: for ever. */
  public static ChannelDefinition idempotent(
      String name, Duration timeout, @Nullable Duration keyRetention) {
    return new ChannelDefinition(name, Contract.IDEMPOTENT, timeout, null, keyRetention);
  }

  /** A channel that can be asked what it has accepted. */
  public static ChannelDefinition queryable(String name, Duration timeout, Duration settle) {
    return new ChannelDefinition(name, Contract.QUERYABLE, timeout, settle, null);
  }

  /** A channel that promises nothing. */
  public static ChannelDefinition opaque(String name, Duration timeout) {
    return new ChannelDefinition(name, Contract.OPAQUE, timeout, null, null);
  }
}
