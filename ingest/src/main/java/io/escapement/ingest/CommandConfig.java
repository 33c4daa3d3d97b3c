package io.escapement.ingest;

import io.escapement.ledger.TopicNames;
import java.time.Duration;

/**
 * How commands are consumed; where Kafka is stands in the client properties.
 *
 * @param group the consumer group; processes of one group share the partitions
 * @param pollTimeout how long a poll waits for records (250 ms)
 * @param retryBase wait after a first failure of Kafka or the ledger (100 ms)
 * @param retryCap longest wait; each further failure doubles it up to here (5 s)
 * @param kafkaTimeout how long Kafka may take to answer a question (10 s)
 */
public record CommandConfig(
    String group,
    Duration pollTimeout,
    Duration retryBase,
    Duration retryCap,
    Duration kafkaTimeout) {

  /** The defaults for topics; the group is named after their prefix. */
  public static CommandConfig of(TopicNames topics) {
    return new CommandConfig(
        topics.prefix() + "-commands",
        Duration.ofMillis(250),
        Duration.ofMillis(100),
        Duration.ofSeconds(5),
        Duration.ofSeconds(10));
  }
}
