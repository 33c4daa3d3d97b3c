package io.escapement.dispatcher.relay;

import java.time.Duration;

/**
 * The relay's numbers. {@link #DEFAULT} suits most; the checks refuse what can't work together.
 *
 * @param pollInterval how often the stream is looked at while it is idle: it adds to the latency,
 *     and a shorter one to the CPU that an idle relay takes
 * @param queueRecords most records that the stream reads ahead (a transaction with one row makes
 *     three)
 * @param queueBytes bound on what the stream reads ahead
 * @param transactionEvents about so many events go into one Kafka transaction; the rows of one
 *     database transaction stay together
 * @param transactionTimeout after so long Kafka aborts a transaction whose relay is gone: readers
 *     of committed records wait at most that long if no other relay takes over
 * @param firstTimeout the same for the very first transaction of a ledger, which holds all rows
 *     that are in the table; not more than the broker's {@code transaction.max.timeout.ms}
 * @param answerTimeout how long Kafka may take to answer before the relay starts again
 * @param watchInterval how often a standby asks for leadership and the leader looks at its slot
 * @param silenceLimit a leader that asks nothing for so long loses its leadership
 * @param heartbeatBytes other log written behind the slot before a heartbeat moves it on
 * @param pruneGrace relayed rows stay in the table at least so long after they were written: what
 *     can be sent again should Kafka or the slot be lost
 * @param pruneRows most rows deleted in one statement
 * @param minBackoff pause after a first failure; doubles with each that follows
 * @param maxBackoff longest pause
 * @param closeTimeout how long closing waits for the stream to end
 */
public record RelayTuning(
    Duration pollInterval,
    int queueRecords,
    long queueBytes,
    int transactionEvents,
    Duration transactionTimeout,
    Duration firstTimeout,
    Duration answerTimeout,
    Duration watchInterval,
    Duration silenceLimit,
    long heartbeatBytes,
    Duration pruneGrace,
    int pruneRows,
    Duration minBackoff,
    Duration maxBackoff,
    Duration closeTimeout) {

  /** What is used where nothing else is said. */
  public static final RelayTuning DEFAULT =
      new RelayTuning(
          Duration.ofMillis(20),
          8_192,
          64L << 20,
          20_000,
          Duration.ofSeconds(60),
          Duration.ofMinutes(15),
          Duration.ofSeconds(15),
          Duration.ofMillis(500),
          Duration.ofSeconds(4),
          1L << 20,
          Duration.ofMinutes(1),
          5_000,
          Duration.ofMillis(250),
          Duration.ofSeconds(10),
          Duration.ofSeconds(10));

  public RelayTuning {
    atLeast("poll-interval", pollInterval, Duration.ofMillis(1));
    atLeast("queue-records", queueRecords, 3);
    atLeast("queue-bytes", queueBytes, 1 << 20);
    atLeast("transaction-events", transactionEvents, 1);
    atLeast("transaction-timeout", transactionTimeout, Duration.ofSeconds(5));
    atLeast("first-timeout", firstTimeout, transactionTimeout);
    atLeast("answer-timeout", answerTimeout, Duration.ofSeconds(1));
    atLeast("watch-interval", watchInterval, Duration.ofMillis(10));
    // A leader that is merely slow must not be taken for one that has stopped.
    atLeast("silence-limit", silenceLimit, watchInterval.multipliedBy(4));
    atLeast("heartbeat-bytes", heartbeatBytes, 1_024);
    atLeast("prune-grace", pruneGrace, Duration.ZERO);
    atLeast("prune-rows", pruneRows, 1);
    atLeast("min-backoff", minBackoff, Duration.ofMillis(1));
    atLeast("max-backoff", maxBackoff, minBackoff);
    atLeast("close-timeout", closeTimeout, Duration.ofSeconds(1));
  }

  /** The same with another poll interval. */
  public RelayTuning withPollInterval(Duration interval) {
    return new RelayTuning(
        interval,
        queueRecords,
        queueBytes,
        transactionEvents,
        transactionTimeout,
        firstTimeout,
        answerTimeout,
        watchInterval,
        silenceLimit,
        heartbeatBytes,
        pruneGrace,
        pruneRows,
        minBackoff,
        maxBackoff,
        closeTimeout);
  }

  /** The same with another grace time before relayed rows are deleted. */
  public RelayTuning withPruneGrace(Duration grace) {
    return new RelayTuning(
        pollInterval,
        queueRecords,
        queueBytes,
        transactionEvents,
        transactionTimeout,
        firstTimeout,
        answerTimeout,
        watchInterval,
        silenceLimit,
        heartbeatBytes,
        grace,
        pruneRows,
        minBackoff,
        maxBackoff,
        closeTimeout);
  }

  private static void atLeast(String name, Duration value, Duration least) {
    if (value.compareTo(least) < 0) {
      throw new IllegalArgumentException(
          "relay." + name + " is " + value + "; it must be at least " + least);
    }
  }

  private static void atLeast(String name, long value, long least) {
    if (value < least) {
      throw new IllegalArgumentException(
          "relay." + name + " is " + value + "; it must be at least " + least);
    }
  }
}
