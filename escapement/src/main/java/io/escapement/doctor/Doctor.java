package io.escapement.doctor;

import io.escapement.config.Config;
import io.escapement.config.Key;
import io.escapement.kafka.Cluster;
import io.escapement.kafka.KafkaUnavailableException;
import io.escapement.ledger.KindDefinition;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.LedgerUnavailableException;
import io.escapement.ledger.Preconditions;
import io.escapement.ledger.TopicNames;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Looks whether everything is there that the parts need, and fits together: the database, its
 * schema and limits, Kafka's topics, the clients' sizes.
 *
 * <p>Cost: a few questions to each server. Thread rule: any.
 */
public final class Doctor {

  private final Config config;
  private final TopicNames names;

  public Doctor(Config config) {
    this.config = config;
    this.names = new TopicNames(config.text(Key.TOPICS_PREFIX));
  }

  /**
   * Everything that is not as it should be, a server that can't be used included; empty is the good
   * answer.
   *
   * @param ledger connects to the ledger
   */
  public List<Finding> examineAll(Supplier<Ledger> ledger) {
    List<Finding> found = new ArrayList<>();
    Set<String> queues = Set.of();
    int maxPayloadBytes = 1;
    try (Ledger connected = ledger.get()) {
      found.addAll(ofSchema(connected));
      if (found.stream().noneMatch(one -> one.severity() == Finding.Severity.ERROR)) {
        found.addAll(ofLedger(connected));
        queues = queues(connected);
        maxPayloadBytes = connected.settings().maxPayloadBytes();
      }
    } catch (LedgerUnavailableException e) {
      found.add(Finding.error(Finding.ALL, "PostgreSQL", message(e)));
    }
    try {
      found.addAll(ofKafka(queues, maxPayloadBytes));
    } catch (KafkaUnavailableException e) {
      found.add(Finding.error(Finding.ALL, "Kafka", message(e)));
    }
    return found;
  }

  /**
   * Everything that is not as it should be.
   *
   * @param ledger under any role
   */
  public List<Finding> examine(Ledger ledger) {
    List<Finding> found = new ArrayList<>(ofSchema(ledger));
    if (found.stream().noneMatch(one -> one.severity() == Finding.Severity.ERROR)) {
      found.addAll(ofLedger(ledger));
      found.addAll(ofKafka(queues(ledger), ledger.settings().maxPayloadBytes()));
    }
    return found;
  }

  private static List<Finding> ofSchema(Ledger ledger) {
    return LedgerRules.judge(ledger.schema());
  }

  private List<Finding> ofLedger(Ledger ledger) {
    Preconditions facts = ledger.preconditions();
    Instant now = Instant.now();
    return LedgerRules.judge(facts, ledger.kinds().size(), config.number(Key.LEDGER_POOL), now);
  }

  private static Set<String> queues(Ledger ledger) {
    return ledger.kinds().stream().map(KindDefinition::queue).collect(Collectors.toSet());
  }

  private List<Finding> ofKafka(Set<String> queues, int maxPayloadBytes) {
    TopicRules rules =
        new TopicRules(
            names,
            config.names(Key.DISPATCHER_QUEUES),
            queues,
            Boolean.parseBoolean(config.text(Key.INGEST_COMMANDS)),
            maxPayloadBytes);
    List<Finding> found = new ArrayList<>(ClientRules.judge(config.kafkaClient(), maxPayloadBytes));
    try (Cluster cluster = Cluster.connect(config)) {
      found.addAll(rules.judge(cluster.facts(rules.needed()), cluster.topics(), cluster.brokers()));
    }
    return found;
  }

  private static String message(RuntimeException e) {
    return Objects.requireNonNullElse(e.getMessage(), e.toString());
  }
}
