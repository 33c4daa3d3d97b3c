package io.escapement.ingest;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The partitions that this consumer owns and where each of them stands.
 *
 * <p>A partition is consumed if and only if it is {@link Placement.At}; otherwise it is paused. A
 * new partition is paused, and the loop finds its position later. Before a partition is given up,
 * the loop is told, so that what the ledger has of it in hand ends first. Thread rule: the
 * consumer's thread.
 */
final class Partitions implements ConsumerRebalanceListener {

  private static final Logger LOG = LoggerFactory.getLogger(Partitions.class);

  private final Consumer<byte[], byte[]> consumer;
  private final Map<TopicPartition, Placement> owned = new HashMap<>();
  private final Map<TopicPartition, Long> epochs = new HashMap<>();
  private final Runnable beforeGivingUp;
  private long epoch;
  private boolean resting;

  /**
   * None yet.
   *
   * @param beforeGivingUp must not fail
   */
  Partitions(Consumer<byte[], byte[]> consumer, Runnable beforeGivingUp) {
    this.consumer = consumer;
    this.beforeGivingUp = beforeGivingUp;
  }

  @Override
  public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
    for (TopicPartition partition : partitions) {
      put(partition, new Placement.Later());
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
    if (partitions.stream().anyMatch(owned::containsKey)) {
      beforeGivingUp.run();
    }
    partitions.forEach(this::remove);
    if (!partitions.isEmpty()) {
      LOG.info("gave up {}", partitions);
    }
  }

  @Override
  public void onPartitionsLost(Collection<TopicPartition> partitions) {
    partitions.forEach(this::remove);
    LOG.warn("lost {}: the group went on without this consumer", partitions);
  }

  /** Forgets where partitions stand; their positions have to be read again. */
  void forget(Collection<TopicPartition> partitions) {
    List<TopicPartition> mine = new ArrayList<>(partitions);
    mine.retainAll(owned.keySet());
    consumer.pause(mine);
    mine.forEach(partition -> put(partition, new Placement.Later()));
  }

  /** The same for all that are consumed. */
  void forgetConsumed() {
    forget(List.copyOf(consumed().keySet()));
  }

  /** Stops fetching for a while, without forgetting where the partitions stand. */
  void rest() {
    if (!resting) {
      resting = true;
      consumer.pause(consumed().keySet());
    }
  }

  /** Fetches again. */
  void goOn() {
    if (resting) {
      resting = false;
      consumer.resume(consumed().keySet());
    }
  }

  /** Waits at a record until there is room for it. */
  void hold(TopicPartition partition, Placement.Held held) {
    if (owned.get(partition) instanceof Placement.Held before
        && before.record().offset() == held.record().offset()) {
      return;
    }
    if (!(owned.get(partition) instanceof Placement.Held)) {
      LOG.warn(
          "{} waits at offset {} for room: {}",
          partition,
          held.record().offset(),
          held.full().word());
    }
    put(partition, held);
    consumer.pause(List.of(partition));
  }

  /** Goes on after a record that has waited. */
  void release(TopicPartition partition, Placement.Held held, long next) {
    LOG.info("{} waits no longer and goes on at {}", partition, next);
    put(partition, new Placement.At(held.key(), next));
    consumer.seek(partition, next);
    resume(partition);
  }

  /** Puts a partition in its place. */
  void place(TopicPartition partition, Placements.Found found) {
    if (!owned.containsKey(partition)) {
      return;
    }
    if (found.placement().equals(owned.get(partition))) {
      return;
    }
    put(partition, found.placement());
    switch (found.placement()) {
      case Placement.At at -> {
        consumer.seek(partition, found.offset());
        resume(partition);
        LOG.info(
            "{} goes on at {} ({})",
            partition,
            found.offset(),
            at.row() == null ? "no position yet" : "the ledger's position");
      }
      case Placement.Stop stop -> LOG.error("partition stopped: {}", stop.reason());
      case Placement.Held held -> throw new IllegalArgumentException("not found: " + held);
      case Placement.Later later -> throw new IllegalArgumentException("not a place: " + later);
    }
  }

  /** Notes the position after what was given to the ledger. */
  void advance(TopicPartition partition, long next) {
    if (owned.get(partition) instanceof Placement.At at) {
      owned.put(partition, new Placement.At(at.key(), next));
    }
  }

  /** Which placement of a partition it is by now: what follows from an earlier one is void. */
  long epoch(TopicPartition partition) {
    return epochs.getOrDefault(partition, 0L);
  }

  /** Whether a partition stands as it did then. */
  boolean isSince(TopicPartition partition, long then) {
    return owned.containsKey(partition) && epoch(partition) == then;
  }

  private void remove(TopicPartition partition) {
    owned.remove(partition);
    epochs.remove(partition);
  }

  private void put(TopicPartition partition, Placement placement) {
    owned.put(partition, placement);
    epochs.put(partition, ++epoch);
  }

  private void resume(TopicPartition partition) {
    if (!resting) {
      consumer.resume(List.of(partition));
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

  /** The partitions that wait for room. */
  Map<TopicPartition, Placement.Held> held() {
    return of(Placement.Held.class);
  }

  /** The partitions that are stopped. */
  Map<TopicPartition, Placement.Stop> stopped() {
    return of(Placement.Stop.class);
  }

  /** The topic ids by which partitions are known. */
  Map<TopicPartition, UUID> topicIds() {
    Map<TopicPartition, UUID> ids = new HashMap<>();
    owned.forEach(
        (partition, placement) -> {
          switch (placement) {
            case Placement.At at -> ids.put(partition, at.key().topicId());
            case Placement.Held held -> ids.put(partition, held.key().topicId());
            case Placement.Stop stop -> ids.put(partition, stop.key().topicId());
            case Placement.Later later -> {}
          }
        });
    return ids;
  }

  boolean owns(TopicPartition partition) {
    return owned.containsKey(partition);
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
