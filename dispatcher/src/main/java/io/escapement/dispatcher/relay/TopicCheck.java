package io.escapement.dispatcher.relay;

import io.escapement.ledger.RecordEnvelope;
import io.escapement.ledger.TopicNames;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether Kafka is there and has the topics that every relay writes. Those of the queues are found
 * missing when a hint for one comes.
 */
final class TopicCheck {

  /** What a dead letter's own headers and the record's frame may take. */
  private static final int OVERHEAD_BYTES = 16 * 1024;

  private static final Logger LOG = LoggerFactory.getLogger(TopicCheck.class);

  private final RelayConfig config;

  TopicCheck(RelayConfig config) {
    this.config = config;
  }

  /** Whether there is such a topic. */
  boolean exists(String topic) {
    try (Admin admin = Admin.create(properties())) {
      admin.describeTopics(List.of(topic)).allTopicNames().get();
      return true;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof UnknownTopicOrPartitionException) {
        return false;
      }
      throw KafkaTrouble.connecting(config, e);
    } catch (KafkaException e) {
      throw KafkaTrouble.connecting(config, e);
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  /**
   * Checks that whatever may be admitted can also be relayed. A dead letter is the largest record
   * there is: a value as large as the ledger lets in, its key and headers, and what is said of it.
   *
   * @throws RelayFailedException with one line that names the setting and the cure
   */
  void requireRoom(int maxPayloadBytes) {
    long largest = (long) maxPayloadBytes + RecordEnvelope.MAX_BYTES + OVERHEAD_BYTES;
    long request = KafkaSink.maxRequestBytes(config);
    if (request < largest) {
      throw new RelayFailedException(
          "kafka.max.request.size is "
              + request
              + "; a dead letter may take "
              + largest
              + " bytes with the ledger's max_payload_bytes of "
              + maxPayloadBytes
              + ": raise it");
    }
    String topic = config.topics().deadLetters();
    try (Admin admin = Admin.create(properties())) {
      setting(admin, topic, TopicConfig.MAX_MESSAGE_BYTES_CONFIG)
          .map(Long::parseLong)
          .filter(bytes -> bytes < largest)
          .ifPresent(
              bytes -> {
                throw new RelayFailedException(
                    "the Kafka topic '"
                        + topic
                        + "' has max.message.bytes="
                        + bytes
                        + "; a dead letter may take "
                        + largest
                        + " bytes with the ledger's max_payload_bytes of "
                        + maxPayloadBytes
                        + ": raise it");
              });
    } catch (KafkaException e) {
      throw KafkaTrouble.connecting(config, e);
    }
  }

  /**
   * Checks.
   *
   * @throws RelayFailedException with one line that names the setting or the topic, and the cure
   */
  void require() {
    try (Admin admin = Admin.create(properties())) {
      TopicNames topics = config.topics();
      List<String> needed =
          List.of(
              topics.relayPosition(), topics.receipts(), topics.outcomes(), topics.deadLetters());
      for (var described : admin.describeTopics(needed).topicNameValues().entrySet()) {
        requirePresent(described.getKey(), described.getValue());
      }
      requireCompacted(admin, topics.relayPosition());
    } catch (KafkaException e) {
      throw KafkaTrouble.connecting(config, e);
    }
  }

  private void requirePresent(String topic, KafkaFuture<?> description) {
    try {
      description.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof UnknownTopicOrPartitionException) {
        throw new RelayFailedException(KafkaTrouble.missing(topic), e);
      }
      throw KafkaTrouble.connecting(config, e);
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  /** A position that retention deletes would make the relay send the whole table again. */
  private void requireCompacted(Admin admin, String topic) {
    setting(admin, topic, TopicConfig.CLEANUP_POLICY_CONFIG)
        .filter(policy -> !TopicConfig.CLEANUP_POLICY_COMPACT.equals(policy))
        .ifPresent(
            policy -> {
              throw new RelayFailedException(
                  "the Kafka topic '"
                      + topic
                      + "' has cleanup.policy="
                      + policy
                      + ": the position would be lost; set cleanup.policy=compact");
            });
  }

  /** How a topic is configured; empty if the relay may not see it. */
  private Optional<String> setting(Admin admin, String topic, String name) {
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    try {
      Config settings = admin.describeConfigs(List.of(resource)).all().get().get(resource);
      ConfigEntry entry = settings == null ? null : settings.get(name);
      return entry == null ? Optional.empty() : Optional.ofNullable(entry.value());
    } catch (ExecutionException e) {
      if (!(e.getCause() instanceof AuthorizationException)) {
        throw KafkaTrouble.connecting(config, e);
      }
      LOG.debug("may not see how the topic '{}' is configured", topic);
      return Optional.empty();
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  private static RelayFailedException interrupted(InterruptedException e) {
    Thread.currentThread().interrupt();
    return new RelayFailedException("interrupted while asking Kafka for its topics", e);
  }

  private Map<String, Object> properties() {
    Map<String, Object> properties = new HashMap<>(config.kafka());
    int answerMillis = Math.toIntExact(config.tuning().answerTimeout().toMillis());
    properties.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, answerMillis);
    properties.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, answerMillis);
    properties.put(
        AdminClientConfig.SOCKET_CONNECTION_SETUP_TIMEOUT_MS_CONFIG,
        Duration.ofSeconds(2).toMillis());
    return properties;
  }
}
