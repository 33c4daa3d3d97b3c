package io.escapement.kafka;

/**
 * What Kafka says of a topic.
 *
 * @param replicas the fewest of any partition
 * @param retentionMillis -1: kept for ever
 */
public record TopicFacts(
    int partitions,
    int replicas,
    int minInsyncReplicas,
    boolean uncleanElection,
    String cleanupPolicy,
    long retentionMillis,
    int maxMessageBytes) {

  /** The same in so many partitions. */
  public TopicFacts withPartitions(int count) {
    return new TopicFacts(
        count,
        replicas,
        minInsyncReplicas,
        uncleanElection,
        cleanupPolicy,
        retentionMillis,
        maxMessageBytes);
  }

  /** The same with another cleanup policy. */
  public TopicFacts withCleanupPolicy(String policy) {
    return new TopicFacts(
        partitions,
        replicas,
        minInsyncReplicas,
        uncleanElection,
        policy,
        retentionMillis,
        maxMessageBytes);
  }

  /** The same kept for so long. */
  public TopicFacts withRetentionMillis(long millis) {
    return new TopicFacts(
        partitions,
        replicas,
        minInsyncReplicas,
        uncleanElection,
        cleanupPolicy,
        millis,
        maxMessageBytes);
  }

  /** The same with another limit for a message. */
  public TopicFacts withMaxMessageBytes(int bytes) {
    return new TopicFacts(
        partitions,
        replicas,
        minInsyncReplicas,
        uncleanElection,
        cleanupPolicy,
        retentionMillis,
        bytes);
  }

  /** The same copied so often. */
  public TopicFacts withReplicas(int count, int minInsync, boolean unclean) {
    return new TopicFacts(
        partitions, count, minInsync, unclean, cleanupPolicy, retentionMillis, maxMessageBytes);
  }
}
