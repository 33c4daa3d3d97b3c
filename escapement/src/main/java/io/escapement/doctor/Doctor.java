package io.escapement.doctor;

import io.escapement.config.Config;
import io.escapement.config.Key;
import io.escapement.kafka.Cluster;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.TopicNames;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Looks whether Kafka's topics fit the ledger and one another.
 *
 * <p>Cost: a few questions to each server. Thread rule: any. Failure: a server that can't be used
 * is an exception of its own, in one line.
 */
public final class Doctor {

  private final Config config;

  public Doctor(Config config) {
    this.config = config;
  }

  /** Everything that is not as it should be; empty is the good answer. */
  public List<Finding> examine(Ledger ledger) {
    Set<String> queues = new TreeSet<>(config.names(Key.DISPATCHER_QUEUES));
    ledger.kinds().forEach(kind -> queues.add(kind.queue()));
    TopicRules rules =
        new TopicRules(
            new TopicNames(config.text(Key.TOPICS_PREFIX)),
            queues,
            ledger.settings().maxPayloadBytes());
    try (Cluster cluster = Cluster.connect(config)) {
      return rules.judge(cluster.facts(rules.needed()));
    }
  }
}
