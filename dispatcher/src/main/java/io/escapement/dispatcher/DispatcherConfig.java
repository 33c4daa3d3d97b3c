package io.escapement.dispatcher;

import io.escapement.ledger.LedgerConfig;
import io.escapement.ledger.TopicNames;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * How a dispatcher works.
 *
 * @param ledger where the ledger is; its pool must have a connection for each of {@code threads},
 *     for each queue, and two more
 * @param kafka client properties; at least {@code bootstrap.servers}
 * @param topics names of the topics
 * @param queues the queues that are served, each with a dispatch topic of its own
 * @param concurrency most tasks in hand (claimed and not yet completed), shared evenly by the
 *     queues; of slow handlers no more are claimed than can begin soon
 * @param threads handlers that run at once
 * @param knownLimit most tasks that timers are kept for; the rest stays in the ledger and is
 *     fetched as room appears
 * @param horizon how far ahead timers are kept
 * @param sweep how often overdue work and ended leases are looked for
 * @param claimBatch most tasks in one claim
 * @param completionBatch most tasks in one completing transaction
 * @param drainLimit how long a stop waits for running handlers
 * @param discovery how due work is found
 * @param limits how much of a kind, or on a channel, runs at once in this process; external
 *     channels without a limit share half of {@code concurrency} evenly
 * @param outages when an external channel that fails is left alone
 */
public record DispatcherConfig(
    LedgerConfig ledger,
    Map<String, String> kafka,
    TopicNames topics,
    List<String> queues,
    int concurrency,
    int threads,
    int knownLimit,
    Duration horizon,
    Duration sweep,
    int claimBatch,
    int completionBatch,
    Duration drainLimit,
    Discovery discovery,
    LaneLimits limits,
    Outages outages) {

  private static final Duration SHORTEST_SWEEP = Duration.ofMillis(50);

  public DispatcherConfig {
    kafka = Map.copyOf(kafka);
    queues = List.copyOf(queues);
    require(!queues.isEmpty(), "dispatcher.queues is empty; name at least one queue");
    require(concurrency >= 1, "dispatcher.concurrency is " + concurrency + "; at least 1");
    require(
        threads >= 1 && threads <= concurrency,
        "dispatcher.threads is "
            + threads
            + "; it must be 1 to dispatcher.concurrency, which is "
            + concurrency);
    require(
        knownLimit >= concurrency,
        "dispatcher.known-limit is "
            + knownLimit
            + "; it must not be below dispatcher.concurrency, which is "
            + concurrency);
    int connections = threads + queues.size() + 2;
    require(
        ledger.poolSize() >= connections,
        "ledger.pool is "
            + ledger.poolSize()
            + "; a dispatcher needs "
            + connections
            + ": dispatcher.threads, one for each queue and two more");
    require(
        sweep.compareTo(SHORTEST_SWEEP) >= 0,
        "dispatcher.sweep is " + sweep + "; at least " + SHORTEST_SWEEP);
    require(
        horizon.compareTo(sweep.multipliedBy(2)) >= 0,
        "dispatcher.horizon is "
            + horizon
            + "; it must be twice dispatcher.sweep, which is "
            + sweep
            + ", or more");
    require(
        horizon.compareTo(Duration.ofHours(1)) <= 0,
        "dispatcher.horizon is " + horizon + "; at most an hour");
    require(
        claimBatch >= 1 && claimBatch <= 5_000,
        "dispatcher.claim-batch is " + claimBatch + "; it must be 1 to 5000");
    require(
        completionBatch >= 1 && completionBatch <= 5_000,
        "dispatcher.completion-batch is " + completionBatch + "; it must be 1 to 5000");
    require(!drainLimit.isNegative(), "dispatcher.drain-limit is negative");
  }

  /** The defaults for everything but where things are. */
  public static DispatcherConfig of(
      LedgerConfig ledger, Map<String, String> kafka, TopicNames topics) {
    return new DispatcherConfig(
        ledger.withPoolSize(Math.max(ledger.poolSize(), 20)),
        kafka,
        topics,
        List.of("default"),
        512,
        16,
        50_000,
        Duration.ofSeconds(60),
        Duration.ofSeconds(5),
        500,
        500,
        Duration.ofSeconds(20),
        new Discovery.Wheel(),
        LaneLimits.NONE,
        Outages.DEFAULT);
  }

  /** The same with other limits. */
  public DispatcherConfig withLimits(LaneLimits other) {
    return with(discovery, other, outages);
  }

  /** The same that finds due work in another way. */
  public DispatcherConfig withDiscovery(Discovery other) {
    return with(other, limits, outages);
  }

  /** The same that minds outages in another way. */
  public DispatcherConfig withOutages(Outages other) {
    return with(discovery, limits, other);
  }

  private DispatcherConfig with(
      Discovery otherDiscovery, LaneLimits otherLimits, Outages otherOutages) {
    return new DispatcherConfig(
        ledger,
        kafka,
        topics,
        queues,
        concurrency,
        threads,
        knownLimit,
        horizon,
        sweep,
        claimBatch,
        completionBatch,
        drainLimit,
        otherDiscovery,
        otherLimits,
        otherOutages);
  }

  private static void require(boolean holds, String message) {
    if (!holds) {
      throw new DispatcherException(message);
    }
  }
}
