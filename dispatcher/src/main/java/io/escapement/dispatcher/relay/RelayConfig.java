package io.escapement.dispatcher.relay;

import io.escapement.ledger.LedgerConfig;
import io.escapement.ledger.TopicNames;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What a relay needs to know.
 *
 * @param ledger the database; its login must be a member of {@code escapement_relay} and may
 *     replicate. The pool size is not used
 * @param kafka properties for every Kafka client, at least {@code bootstrap.servers}; those that
 *     exactness depends on are the relay's own and are refused here
 * @param topics the topics' names
 * @param slot the replication slot; relays with the same slot elect one leader
 * @param tuning the numbers
 */
public record RelayConfig(
    LedgerConfig ledger,
    Map<String, String> kafka,
    TopicNames topics,
    String slot,
    RelayTuning tuning) {

  /** The slot's name where none is configured. */
  public static final String DEFAULT_SLOT = "escapement_outbox";

  private static final String BOOTSTRAP = "bootstrap.servers";
  private static final Set<String> OWN =
      Set.of(
          "acks",
          "auto.offset.reset",
          "enable.auto.commit",
          "enable.idempotence",
          "group.id",
          "isolation.level",
          "key.deserializer",
          "key.serializer",
          "transaction.timeout.ms",
          "transactional.id",
          "value.deserializer",
          "value.serializer");

  public RelayConfig {
    kafka = Map.copyOf(kafka);
    if (!slot.matches("[a-z0-9_]{1,63}")) {
      throw new IllegalArgumentException(
          "relay.slot is '"
              + slot
              + "'; it must be 1 to 63 lower-case letters, digits or underscores");
    }
    if (kafka.getOrDefault(BOOTSTRAP, "").isBlank()) {
      throw new IllegalArgumentException(
          "kafka.bootstrap-servers is missing; set it to the brokers' host:port list");
    }
    for (String name : kafka.keySet()) {
      if (OWN.contains(name)) {
        throw new IllegalArgumentException(
            "kafka." + name + " is the relay's own and can't be set; remove it");
      }
    }
  }

  /** The defaults for everything but the addresses and the login. */
  public static RelayConfig of(LedgerConfig ledger, String bootstrapServers) {
    return new RelayConfig(
        ledger,
        Map.of(BOOTSTRAP, bootstrapServers),
        TopicNames.standard(),
        DEFAULT_SLOT,
        RelayTuning.DEFAULT);
  }

  /** The same with other numbers. */
  public RelayConfig withTuning(RelayTuning other) {
    return new RelayConfig(ledger, kafka, topics, slot, other);
  }

  /** The brokers, for messages. */
  String bootstrapServers() {
    return kafka.getOrDefault(BOOTSTRAP, "");
  }

  /** Names the one producer that may write; Kafka fences all others of that name. */
  String transactionalId() {
    return topics.prefix() + "-relay-" + slot;
  }

  @Override
  public String toString() {
    Map<String, String> shown = new TreeMap<>();
    kafka.forEach((name, value) -> shown.put(name, isSecret(name) ? "***" : value));
    return "RelayConfig[ledger="
        + ledger
        + ", kafka="
        + shown
        + ", topics="
        + topics
        + ", slot="
        + slot
        + ", tuning="
        + tuning
        + "]";
  }

  private static boolean isSecret(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return lower.contains("password") || lower.contains("jaas") || lower.contains("secret");
  }
}
