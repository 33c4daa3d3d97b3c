package io.escapement.kafka;

import io.escapement.config.Config;
import io.escapement.config.Key;
import io.escapement.ledger.RecordEnvelope;
import io.escapement.ledger.TopicNames;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;

/**
 * The topics that Escapement needs: created with explicit partitions, replication and retention,
 * and never by use.
 *
 * <p>Topics that exist are left as they are, but for one check: the relay's position must be
 * compacted, or Kafka would forget it by age and the relay with it.
 */
public final class Topics {

  private static final String COMPACT = "compact";

  private static final Duration KEPT = Duration.ofDays(7);
  private static final Duration DEAD_LETTERS_KEPT = Duration.ofDays(30);

  /** Hints older than this are worthless: dispatchers load what is due from the ledger. */
  private static final Duration HINTS_KEPT = Duration.ofHours(1);

  private static final Duration HINTS_SEGMENT = Duration.ofMinutes(15);

  /** What Kafka lets into a topic that says nothing of it. */
  private static final int USUAL_MESSAGE_BYTES = 1_048_588;

  /** Key and headers of a record, and what a dead letter says of it: more is not kept. */
  private static final int BESIDE_THE_VALUE = RecordEnvelope.MAX_BYTES + 16 * 1024;

  private final Cluster cluster;
  private final TopicNames names;
  private final int partitions;
  private final short replication;

  /** The topics of these settings' prefix. */
  public Topics(Cluster cluster, Config config) {
    this.cluster = cluster;
    this.names = new TopicNames(config.text(Key.TOPICS_PREFIX));
    this.partitions = config.number(Key.TOPICS_PARTITIONS);
    this.replication = (short) config.number(Key.TOPICS_REPLICATION);
  }

  /**
   * One topic after {@link #create}.
   *
   * @param created false if it was there before
   */
  public record Present(String topic, int partitions, boolean created) {}

  /**
   * Creates what is missing.
   *
   * @param queues each has a dispatch topic
   * @param tenants each gets a requests topic of its own
   * @param maxPayloadBytes the ledger's limit for a value: requests and dead letters must fit it
   */
  public List<Present> create(
      Collection<String> queues, Collection<String> tenants, int maxPayloadBytes) {
    Map<String, NewTopic> wanted = wanted(queues, tenants, maxPayloadBytes);
    Map<String, TopicDescription> existing = cluster.describe(wanted.keySet());
    List<Present> present = new ArrayList<>();
    wanted.forEach(
        (name, topic) -> {
          TopicDescription found = existing.get(name);
          if (found != null) {
            present.add(new Present(name, found.partitions().size(), false));
          } else {
            present.add(new Present(name, topic.numPartitions(), cluster.create(topic)));
          }
        });
    cluster.awaitVisible(wanted.keySet());
    checkCompacted(names.relayPosition());
    return present;
  }

  /**
   * Refuses to go on without a topic.
   *
   * @throws KafkaUnavailableException naming the missing ones
   */
  public void require(Collection<String> topics) {
    TreeSet<String> missing = new TreeSet<>(topics);
    missing.removeAll(cluster.describe(topics).keySet());
    if (!missing.isEmpty()) {
      throw new KafkaUnavailableException(
          "Kafka has no topic "
              + String.join(", ", missing)
              + "; create what is missing with: escapement migrate (or correct topics.prefix)");
    }
  }

  private Map<String, NewTopic> wanted(
      Collection<String> queues, Collection<String> tenants, int maxPayloadBytes) {
    Map<String, NewTopic> wanted = new LinkedHashMap<>();
    put(wanted, names.requests(), whole(KEPT, maxPayloadBytes));
    tenants.forEach(
        tenant -> put(wanted, names.tenantRequests(tenant), whole(KEPT, maxPayloadBytes)));
    // One partition, so that commands are executed in the order in which they were sent.
    wanted.put(
        names.commands(), new NewTopic(names.commands(), 1, replication).configs(kept(KEPT)));
    put(wanted, names.receipts(), kept(KEPT));
    put(wanted, names.outcomes(), kept(KEPT));
    put(wanted, names.deadLetters(), whole(DEAD_LETTERS_KEPT, maxPayloadBytes));
    for (String queue : new TreeSet<>(queues)) {
      put(wanted, names.dispatch(queue), hints());
    }
    wanted.put(
        names.relayPosition(),
        new NewTopic(names.relayPosition(), 1, replication)
            .configs(
                // Written with every transaction: small segments, or compaction comes too late.
                Map.of(
                    "cleanup.policy", COMPACT,
                    "segment.bytes", "16777216",
                    "segment.ms", "600000",
                    "min.cleanable.dirty.ratio", "0.1")));
    return wanted;
  }

  private void put(Map<String, NewTopic> wanted, String name, Map<String, String> configs) {
    wanted.put(name, new NewTopic(name, partitions, replication).configs(configs));
  }

  private static Map<String, String> kept(Duration retention) {
    return Map.of("cleanup.policy", "delete", "retention.ms", Long.toString(retention.toMillis()));
  }

  /** With room for a value of the largest size beside key and headers, where the usual has none. */
  private static Map<String, String> whole(Duration retention, int maxPayloadBytes) {
    Map<String, String> configs = new HashMap<>(kept(retention));
    int largest = maxPayloadBytes + BESIDE_THE_VALUE;
    if (largest > USUAL_MESSAGE_BYTES) {
      configs.put("max.message.bytes", Integer.toString(largest));
    }
    return configs;
  }

  /** Retention counts closed segments only, so the segments have to be short too. */
  private static Map<String, String> hints() {
    Map<String, String> configs = new HashMap<>(kept(HINTS_KEPT));
    configs.put("segment.ms", Long.toString(HINTS_SEGMENT.toMillis()));
    return configs;
  }

  private void checkCompacted(String topic) {
    String policy = cluster.cleanupPolicy(topic);
    if (!policy.equals(COMPACT)) {
      throw new KafkaUnavailableException(
          "topic "
              + topic
              + " has cleanup.policy="
              + policy
              + "; the relay's position must outlive any retention: set it to "
              + COMPACT);
    }
  }
}
