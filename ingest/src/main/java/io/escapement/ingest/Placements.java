package io.escapement.ingest;

import io.escapement.ledger.Ledger;
import io.escapement.ledger.PartitionKey;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Finds where partitions are to be resumed: at the ledger's position, whatever Kafka's committed
 * offset says, because only the ledger's is written with the decisions.
 *
 * <p>Cost: three questions to Kafka and one to the ledger, however many partitions. Failure: the
 * exceptions of both; a partition that Kafka does not know (any more) is absent from the answer.
 */
final class Placements {

  private final TopicFacts facts;
  private final Ledger ledger;

  Placements(TopicFacts facts, Ledger ledger) {
    this.facts = facts;
    this.ledger = ledger;
  }

  /** A placement and, where it is consumed, the offset to go to. */
  record Found(Placement placement, long offset) {}

  /** Finds the placements of partitions. */
  Map<TopicPartition, Found> of(Set<TopicPartition> partitions) {
    // Row before range: a row that another owner moves in between can't seem to lie beyond an end
    // that was read too early.
    Map<String, UUID> ids = facts.ids(topics(partitions));
    Map<TopicPartition, PartitionKey> keys = new HashMap<>();
    for (TopicPartition partition : partitions) {
      UUID id = ids.get(partition.topic());
      if (id != null) {
        keys.put(partition, new PartitionKey(partition.topic(), id, partition.partition()));
      }
    }
    Map<PartitionKey, Long> rows = ledger.positions(keys.values());
    Map<TopicPartition, TopicFacts.Range> ranges = facts.ranges(keys.keySet());
    Map<TopicPartition, Found> found = new HashMap<>();
    ranges.forEach(
        (partition, range) -> {
          PartitionKey key = keys.get(partition);
          if (key != null) {
            found.put(partition, place(key, rows.get(key), range));
          }
        });
    return found;
  }

  /** The topics of partitions. */
  static Set<String> topics(Collection<TopicPartition> partitions) {
    Set<String> topics = new HashSet<>();
    partitions.forEach(partition -> topics.add(partition.topic()));
    return topics;
  }

  static Found place(PartitionKey key, @Nullable Long row, TopicFacts.Range range) {
    if (row == null) {
      return new Found(new Placement.At(key, null), range.start());
    }
    String what = key.topic() + "-" + key.partition() + " (topic id " + key.topicId() + ")";
    if (row < range.start()) {
      return stop(
          key,
          "position %d of %s lies before its first record %d: retention has deleted %d offsets that were never decided; %s"
              .formatted(
                  row, what, range.start(), range.start() - row, cure(key, row, range.start())));
    }
    if (row > range.end()) {
      return stop(
          key,
          "position %d of %s lies beyond its end %d: the log has lost records that were decided; %s"
              .formatted(row, what, range.end(), cure(key, row, range.end())));
    }
    return new Found(new Placement.At(key, row), row);
  }

  private static String cure(PartitionKey key, long row, long there) {
    return "to go on there: select escapement.move_position('%s', %d, %d, %d, 'why')"
        .formatted(key.topicId(), key.partition(), row, there);
  }

  private static Found stop(PartitionKey key, String reason) {
    return new Found(new Placement.Stop(key, reason), -1);
  }
}
