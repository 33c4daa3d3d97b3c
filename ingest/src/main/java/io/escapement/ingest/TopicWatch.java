package io.escapement.ingest;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out, when it may have changed, which topics the names stand for: a topic that was created
 * again is another one. Thread rule: the consumer's thread. Failure: Kafka's; the question is asked
 * again.
 */
final class TopicWatch {

  private static final Logger LOG = LoggerFactory.getLogger(TopicWatch.class);

  private final MetadataWatch metadata;
  private final TopicFacts facts;
  private long checked = -1;

  TopicWatch(MetadataWatch metadata, TopicFacts facts) {
    this.metadata = metadata;
    this.facts = facts;
  }

  /** Forgets where partitions stand whose topic is another one now. */
  void check(Partitions partitions) {
    long seen = metadata.updates();
    if (seen == checked) {
      return;
    }
    Map<TopicPartition, UUID> known = partitions.topicIds();
    if (!known.isEmpty()) {
      Map<String, UUID> ids = facts.ids(Placements.topics(known.keySet()));
      Set<TopicPartition> others = new HashSet<>();
      known.forEach(
          (partition, id) -> {
            if (!id.equals(ids.get(partition.topic()))) {
              others.add(partition);
            }
          });
      if (!others.isEmpty()) {
        LOG.warn("deleted or created again, reading the positions anew: {}", others);
        partitions.forget(others);
      }
    }
    checked = seen;
  }
}
