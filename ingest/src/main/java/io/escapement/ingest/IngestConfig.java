package io.escapement.ingest;

import io.escapement.ledger.AdmissionBatch;
import io.escapement.ledger.TopicNames;
import java.time.Duration;
import java.util.Set;

/**
 * How ingest works; where Kafka is stands in the client properties, limits stand in the ledger.
 *
 * @param group the consumer group; processes of one group share the partitions
 * @param batchRecords most records in one admission, 1 to {@link AdmissionBatch#MAX_SUBMISSIONS}; a
 *     larger batch is cheaper a record and holds the budget rows longer (default 500)
 * @param batchBytes an admission is closed when its records reach this size, at least 64 KiB
 *     (default 16 MiB); it bounds memory, not a record
 * @param pollTimeout how long a poll waits for records, at most 5 s (default 250 ms)
 * @param retryBase wait after a first failure of Kafka or the ledger (default 100 ms)
 * @param retryCap longest wait; each further failure doubles it up to here (default 5 s)
 * @param holdTopics the requests topics whose partitions wait when a budget is full, instead of
 *     having records refused; of a full tenant's budget only the tenant's own topic waits (default
 *     none)
 * @param kafkaTimeout how long Kafka may take to answer a question (default 10 s)
 */
public record IngestConfig(
    String group,
    int batchRecords,
    int batchBytes,
    Duration pollTimeout,
    Duration retryBase,
    Duration retryCap,
    Set<String> holdTopics,
    Duration kafkaTimeout) {

  private static final int LEAST_BATCH_BYTES = 64 * 1024;
  private static final Duration LONGEST_POLL = Duration.ofSeconds(5);
  private static final Duration LONGEST_KAFKA = Duration.ofMinutes(1);

  public IngestConfig {
    holdTopics = Set.copyOf(holdTopics);
    refuseIf(group.isBlank(), "ingest.group is empty; name the consumer group");
    refuseIf(
        batchRecords < 1 || batchRecords > AdmissionBatch.MAX_SUBMISSIONS,
        "ingest.batch is " + batchRecords + "; it must be 1 to " + AdmissionBatch.MAX_SUBMISSIONS);
    refuseIf(
        batchBytes < LEAST_BATCH_BYTES,
        "ingest.batch-bytes is " + batchBytes + "; it must be at least " + LEAST_BATCH_BYTES);
    refuseUnlessWithin("ingest.poll-timeout", pollTimeout, LONGEST_POLL);
    refuseUnlessWithin("ingest.retry-base", retryBase, retryCap);
    refuseUnlessWithin("ingest.retry-cap", retryCap, LONGEST_KAFKA);
    refuseUnlessWithin("kafka.timeout", kafkaTimeout, LONGEST_KAFKA);
  }

  /** The defaults for topics; the group is named after their prefix. */
  public static IngestConfig of(TopicNames topics) {
    return new IngestConfig(
        topics.prefix() + "-ingest",
        500,
        16 * 1024 * 1024,
        Duration.ofMillis(250),
        Duration.ofMillis(100),
        Duration.ofSeconds(5),
        Set.of(),
        Duration.ofSeconds(10));
  }

  /** The defaults for commands: each is a transaction of its own, and nothing waits for room. */
  public static IngestConfig ofCommands(TopicNames topics) {
    IngestConfig usual = of(topics);
    return new IngestConfig(
        topics.prefix() + "-commands",
        1,
        usual.batchBytes,
        usual.pollTimeout,
        usual.retryBase,
        usual.retryCap,
        Set.of(),
        usual.kafkaTimeout);
  }

  /** The same with another batch size. */
  public IngestConfig withBatchRecords(int records) {
    return new IngestConfig(
        group, records, batchBytes, pollTimeout, retryBase, retryCap, holdTopics, kafkaTimeout);
  }

  /** The same with another limit for Kafka's answers. */
  public IngestConfig withKafkaTimeout(Duration timeout) {
    return new IngestConfig(
        group, batchRecords, batchBytes, pollTimeout, retryBase, retryCap, holdTopics, timeout);
  }

  /** The same with topics that wait when a budget is full. */
  public IngestConfig withHoldTopics(Set<String> topics) {
    return new IngestConfig(
        group, batchRecords, batchBytes, pollTimeout, retryBase, retryCap, topics, kafkaTimeout);
  }

  private static void refuseUnlessWithin(String setting, Duration value, Duration most) {
    refuseIf(
        value.compareTo(Duration.ofMillis(1)) < 0 || value.compareTo(most) > 0,
        setting + " is " + value + "; it must be between PT0.001S and " + most);
  }

  private static void refuseIf(boolean wrong, String message) {
    if (wrong) {
      throw new IllegalArgumentException(message);
    }
  }
}
