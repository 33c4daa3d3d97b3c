package io.escapement.bench;

import io.escapement.ingest.IngestConfig;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.common.GroupState;

/** Waits until ingest processes have shared the partitions among them. */
final class IngestGroup {

  private static final Duration LIMIT = Duration.ofMinutes(1);
  private static final long ASK_LIMIT_SECONDS = 10;

  private IngestGroup() {}

  static void awaitShared(BenchWorld world, int processes, Patience patience) {
    String group = IngestConfig.of(world.topics()).group();
    try (Admin admin = Admin.create(new HashMap<>(world.config().kafkaClient()))) {
      patience.await(
          processes + " ingest processes to share the partitions",
          LIMIT,
          () -> isShared(admin, group, processes));
    }
  }

  private static boolean isShared(Admin admin, String group, int processes) {
    try {
      ConsumerGroupDescription description =
          Objects.requireNonNull(
              admin
                  .describeConsumerGroups(List.of(group))
                  .all()
                  .get(ASK_LIMIT_SECONDS, TimeUnit.SECONDS)
                  .get(group));
      return description.groupState() == GroupState.STABLE
          && description.members().size() == processes
          && description.members().stream()
              .noneMatch(member -> member.assignment().topicPartitions().isEmpty());
    } catch (ExecutionException | TimeoutException notYet) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
