package io.escapement.bench;

import io.escapement.assembly.CommandFailure;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;

/**
 * How far readers of committed records could read some topics: counts what a relay sends without
 * the cost of reading it. Commit markers count too.
 *
 * <p>Thread rule: one thread.
 */
final class TopicEnds implements AutoCloseable {

  private static final long LIMIT_SECONDS = 30;

  private final Admin admin;
  private final Map<TopicPartition, OffsetSpec> ends = new HashMap<>();

  TopicEnds(BenchWorld world, List<String> topics) {
    admin = Admin.create(new HashMap<>(world.config().kafkaClient()));
    for (String topic : topics) {
      for (int partition = 0; partition < world.partitions(); partition++) {
        ends.put(new TopicPartition(topic, partition), OffsetSpec.latest());
      }
    }
  }

  /** The sum of the ends. */
  long sum() {
    try {
      return admin
          .listOffsets(ends, new ListOffsetsOptions(IsolationLevel.READ_COMMITTED))
          .all()
          .get(LIMIT_SECONDS, TimeUnit.SECONDS)
          .values()
          .stream()
          .mapToLong(ListOffsetsResultInfo::offset)
          .sum();
    } catch (ExecutionException | TimeoutException e) {
      throw new CommandFailure("the ends of topics can't be read: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandFailure("the benchmark was interrupted", e);
    }
  }

  @Override
  public void close() {
    admin.close();
  }
}
