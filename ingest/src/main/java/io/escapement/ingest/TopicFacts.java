package io.escapement.ingest;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * What Kafka knows of topics: their ids, and the offsets that their partitions hold.
 *
 * <p>Cost: one or two round trips a call. Thread rule: any. Failure: {@link KafkaException}, within
 * the time limit; a topic or partition that does not exist is absent from the answer.
 */
final class TopicFacts {

  private final Admin admin;
  private final int limitMillis;

  TopicFacts(Admin admin, Duration limit) {
    this.admin = admin;
    this.limitMillis = Math.toIntExact(limit.toMillis());
  }

  /** The offsets that a partition holds: from {@code start} to before {@code end}. */
  record Range(long start, long end) {}

  /** The ids of topics: another id under the same name is another topic. */
  Map<String, UUID> ids(Collection<String> topics) {
    Map<String, UUID> ids = new HashMap<>();
    Map<String, KafkaFuture<TopicDescription>> answers =
        admin
            .describeTopics(topics, new DescribeTopicsOptions().timeoutMs(limitMillis))
            .topicNameValues();
    for (Map.Entry<String, KafkaFuture<TopicDescription>> answer : answers.entrySet()) {
      try {
        Uuid id = answer.getValue().get().topicId();
        ids.put(
            answer.getKey(), new UUID(id.getMostSignificantBits(), id.getLeastSignificantBits()));
      } catch (ExecutionException e) {
        unlessMissing(e);
      } catch (InterruptedException e) {
        throw new InterruptException(e);
      }
    }
    return ids;
  }

  /**
   * The offsets that partitions hold. The end counts what is not committed yet, too: it is where
   * the log ends.
   */
  Map<TopicPartition, Range> ranges(Collection<TopicPartition> partitions) {
    Map<TopicPartition, Long> starts = offsets(partitions, OffsetSpec.earliest());
    Map<TopicPartition, Long> ends = offsets(starts.keySet(), OffsetSpec.latest());
    Map<TopicPartition, Range> ranges = new HashMap<>();
    ends.forEach(
        (partition, end) ->
            ranges.put(partition, new Range(starts.getOrDefault(partition, end), end)));
    return ranges;
  }

  private Map<TopicPartition, Long> offsets(
      Collection<TopicPartition> partitions, OffsetSpec which) {
    Map<TopicPartition, OffsetSpec> question = new HashMap<>();
    partitions.forEach(partition -> question.put(partition, which));
    ListOffsetsResult answers =
        admin.listOffsets(question, new ListOffsetsOptions().timeoutMs(limitMillis));
    Map<TopicPartition, Long> offsets = new HashMap<>();
    for (TopicPartition partition : partitions) {
      try {
        offsets.put(partition, answers.partitionResult(partition).get().offset());
      } catch (ExecutionException e) {
        unlessMissing(e);
      } catch (InterruptedException e) {
        throw new InterruptException(e);
      }
    }
    return offsets;
  }

  private static void unlessMissing(ExecutionException failure) {
    Throwable cause = failure.getCause();
    if (!(cause instanceof UnknownTopicOrPartitionException)) {
      throw new KafkaException(
          "Kafka did not answer: " + (cause == null ? failure : cause).getMessage(), cause);
    }
  }
}
