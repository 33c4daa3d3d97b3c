package io.escapement.config;

import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;

/**
 * Kafka's own client properties, passed on with {@code kafka.} before their name: for encryption,
 * authentication and tuning. Those that carry a promise of Escapement are refused.
 */
final class KafkaClientSettings {

  /** Before a property of Kafka's. */
  static final String PREFIX = "kafka.";

  private static final Set<String> OWN =
      Set.of(
          "acks",
          "allow.auto.create.topics",
          "auto.offset.reset",
          "enable.auto.commit",
          "enable.idempotence",
          "group.id",
          "group.instance.id",
          "isolation.level",
          "key.deserializer",
          "key.serializer",
          "max.in.flight.requests.per.connection",
          "partitioner.class",
          "transactional.id",
          "value.deserializer",
          "value.serializer");

  private static final SortedSet<String> KNOWN = known();

  private KafkaClientSettings() {}

  /** Refuses what is not a client property, or one that may not be changed. */
  static void check(Setting setting) {
    String property = setting.key().substring(PREFIX.length());
    if (property.equals("bootstrap.servers")) {
      throw new ConfigException(
          setting + " is not a setting; write " + Key.KAFKA_BOOTSTRAP_SERVERS.key());
    }
    if (OWN.contains(property)) {
      throw new ConfigException(
          setting + " can't be set: Escapement's promises rest on its own value; remove it");
    }
    if (!KNOWN.contains(property)) {
      throw new ConfigException(
          "unknown setting "
              + setting
              + ": neither Escapement nor Kafka's clients have it"
              + Suggestion.didYouMean(setting.key(), allNames()));
    }
  }

  /** The setting that the environment spells like this, {@code KAFKA_SASL_JAAS_CONFIG} say. */
  static Optional<String> ofVariable(String variableName) {
    return names().stream().filter(n -> Key.variableName(n).equals(variableName)).findFirst();
  }

  /** All of them, with the prefix. */
  static SortedSet<String> names() {
    SortedSet<String> names = new TreeSet<>();
    KNOWN.forEach(property -> names.add(PREFIX + property));
    return names;
  }

  private static SortedSet<String> allNames() {
    SortedSet<String> all = names();
    all.addAll(Key.names());
    return all;
  }

  /** Whether a property's value is never shown. */
  static boolean isSecret(String key) {
    String lower = key.toLowerCase(Locale.ROOT);
    return lower.contains("password")
        || lower.contains("jaas")
        || lower.contains("secret")
        || lower.contains("ssl.keystore.key")
        || lower.contains("private.key");
  }

  /** Without the prefix, as Kafka's clients take them. */
  static void addTo(Map<String, String> client, Iterable<Setting> settings) {
    for (Setting setting : settings) {
      client.put(setting.key().substring(PREFIX.length()), setting.value());
    }
  }

  private static SortedSet<String> known() {
    SortedSet<String> names = new TreeSet<>(ProducerConfig.configNames());
    names.addAll(ConsumerConfig.configNames());
    names.addAll(AdminClientConfig.configNames());
    names.remove("bootstrap.servers");
    return names;
  }
}
