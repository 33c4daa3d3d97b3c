package io.escapement.kafka;

/**
 * What Kafka says of a topic.
 *
 * @param retentionMillis -1: kept for ever
 */
public record TopicFacts(
    int partitions, String cleanupPolicy, long retentionMillis, int maxMessageBytes) {}
