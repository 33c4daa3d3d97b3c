package io.escapement.ingest;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The partitions that this consumer owns and where each of them stands.
 *
 * <p>A partition is consumed if and only if it is {@link Placement.At}; otherwise it is paused. The
 * callbacks of a rebalance ask nobody anything, so they can't fail and don't hold up the group: a
 * new partition is paused, and the loop finds its position later. Thread rule: the consumer's
 * thread.
 */
final class Partitions implements ConsumerRebalanceListener {

  private static final Logger LOG = LoggerFactory.getLogger(Partitions.class);

  private final Consumer<byte[], byte[]> consumer;
  private final Map<TopicPartition, Placement> owned = new HashMap<>();

  Partitions(Consumer<byte[], byte[]> consumer) {
    this.consumer = consumer;
  }

  @Override
  public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
    for (TopicPartition partition : partitions) {
      owned.put(partition, new Placement.Later());
      // Any offset does while it is paused; without one, poll would ask Kafka for a committed one.
      consumer.seek(partition, 0);
    }
    consumer.pause(partitions);
    if (!partitions.isEmpty()) {
      LOG.info("assigned {}", partitions);
    }
  }

  @Override
  public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
    // Nothing is open here: the loop decides what a poll brought before it polls again.
    partitions.forEach(owned::remove);
    if (!partitions.isEmpty()) {
      LOG.info("gave up {}", partitions);
    }
  }

  @Override
  public void onPartitionsLost(Collection<TopicPartition> partitions) {
    partitions.forEach(owned::remove);
    LOG.warn("lost {}: the group went on without this consumer", partitions);
  }

  /** Forgets where partitions stand; their positions have to be read again. */
  void forget(Collection<TopicPartition> partitions) {
    List<TopicPartition> mine = new ArrayList<>(partitions);
    mine.retainAll(owned.keySet());
    consumer.pause(mine);
    mine.forEach(partition -> owned.put(partition, new Placement.Later()));
  }

  /** The same for all that are consumed. */
  void forgetConsumed() {
    forget(List.copyOf(consumed().keySet()));
  }

  /** Puts a partition in its place. */
  void place(TopicPartition partition, Placements.Found found) {
    if (!owned.containsKey(partition)) {
      return;
    }
    owned.put(partition, found.placement());
    switch (found.placement()) {
      case Placement.At at -> {
        consumer.seek(partition, found.offset());
        consumer.resume(List.of(partition));
        LOG.info(
            "{} goes on at {} ({})",
            partition,
            found.offset(),
            at.row() == null ? "no position yet" : "the ledger's position");
      }
      case Placement.Stop stop -> LOG.error("partition stopped: {}", stop.reason());
      case Placement.Later later -> throw new IllegalArgumentException("not a place: " + later);
    }
  }

  /** Notes the position that was just written. */
  void advance(TopicPartition partition, long next) {
    if (owned.get(partition) instanceof Placement.At at) {
      owned.put(partition, new Placement.At(at.key(), next));
    }
  }

  /** Where a partition is consumed; null if it is not. */
  Placement.@Nullable At at(TopicPartition partition) {
    return owned.get(partition) instanceof Placement.At at ? at : null;
  }

  /** The partitions whose positions have to be read. */
  Set<TopicPartition> waiting() {
    Set<TopicPartition> waiting = new HashSet<>();
    owned.forEach(
        (partition, placement) -> {
          if (placement instanceof Placement.Later) {
            waiting.add(partition);
          }
        });
    return waiting;
  }

  /** The partitions that are consumed. */
  Map<TopicPartition, Placement.At> consumed() {
    return of(Placement.At.class);
  }

  /** The partitions that are stopped. */
  Map<TopicPartition, Placement.Stop> stopped() {
    return of(Placement.Stop.class);
  }

  int count() {
    return owned.size();
  }

  private <P extends Placement> Map<TopicPartition, P> of(Class<P> kind) {
    Map<TopicPartition, P> some = new HashMap<>();
    owned.forEach(
        (partition, placement) -> {
          if (kind.isInstance(placement)) {
            some.put(partition, kind.cast(placement));
          }
        });
    return some;
  }
}
