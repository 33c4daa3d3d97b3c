package io.escapement.kafka;

import io.escapement.config.Config;
import io.escapement.config.Key;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.apache.kafka.common.errors.TopicExistsException;

/**
 * The brokers that the settings name.
 *
 * <p>Cost: one connection; opening it waits for an answer, at most {@code kafka.timeout}. Thread
 * rule: any thread. Failure: {@link KafkaUnavailableException} with one line that says which
 * setting to mend.
 */
public final class Cluster implements AutoCloseable {

  private static final Duration VISIBLE_PAUSE = Duration.ofMillis(50);

  private final Config config;
  private final Admin admin;
  private final Duration timeout;

  private Cluster(Config config, Admin admin, Duration timeout) {
    this.config = config;
    this.admin = admin;
    this.timeout = timeout;
  }

  /** Connects, and waits until a broker answers. */
  public static Cluster connect(Config config) {
    Duration timeout = config.time(Key.KAFKA_TIMEOUT);
    Map<String, Object> properties = new HashMap<>(config.kafkaClient());
    properties.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, (int) timeout.toMillis());
    properties.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, (int) timeout.toMillis());
    Admin admin;
    try {
      admin = Admin.create(properties);
    } catch (KafkaException e) {
      throw new KafkaUnavailableException(refusedSettings(config, e), e);
    }
    Cluster cluster = new Cluster(config, admin, timeout);
    try {
      cluster.await("cluster", admin.describeCluster().nodes());
    } catch (RuntimeException e) {
      cluster.close();
      throw e;
    }
    return cluster;
  }

  /** Those of some topics that exist, described. */
  Map<String, TopicDescription> describe(Collection<String> topics) {
    Set<String> existing = new TreeSet<>(await("topics", admin.listTopics().names()));
    existing.retainAll(topics);
    return await("topics", admin.describeTopics(existing).allTopicNames());
  }

  /** Waits until topics that were just created are known to the broker that we talk to. */
  void awaitVisible(Collection<String> topics) {
    long deadlineNanos = System.nanoTime() + timeout.toNanos();
    while (describe(topics).size() < topics.size()) {
      if (System.nanoTime() > deadlineNanos || Thread.currentThread().isInterrupted()) {
        throw new KafkaUnavailableException(
            "Kafka created topics that it does not show: " + topics);
      }
      LockSupport.parkNanos(VISIBLE_PAUSE.toNanos());
    }
  }

  /** The cleanup policy of a topic that exists. */
  String cleanupPolicy(String topic) {
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    return await(topic, admin.describeConfigs(List.of(resource)).all()).values().stream()
        .map(config -> config.get("cleanup.policy").value())
        .collect(Collectors.joining());
  }

  /** The names of all topics that this login may see. */
  public Set<String> topics() {
    return await("topics", admin.listTopics().names());
  }

  /** How many brokers there are. */
  public int brokers() {
    return await("cluster", admin.describeCluster().nodes()).size();
  }

  /** What is to be known of those of some topics that exist. */
  public Map<String, TopicFacts> facts(Collection<String> topics) {
    Map<String, TopicFacts> facts = new HashMap<>();
    Map<String, TopicDescription> described = describe(topics);
    List<ConfigResource> resources =
        described.keySet().stream()
            .map(name -> new ConfigResource(ConfigResource.Type.TOPIC, name))
            .toList();
    await("topics", admin.describeConfigs(resources).all())
        .forEach(
            (resource, set) -> {
              TopicDescription one = described.get(resource.name());
              if (one != null) {
                facts.put(resource.name(), facts(one, set));
              }
            });
    return facts;
  }

  private static TopicFacts facts(
      TopicDescription topic, org.apache.kafka.clients.admin.Config set) {
    return new TopicFacts(
        topic.partitions().size(),
        topic.partitions().stream().mapToInt(one -> one.replicas().size()).min().orElse(0),
        Integer.parseInt(set.get("min.insync.replicas").value()),
        Boolean.parseBoolean(set.get("unclean.leader.election.enable").value()),
        set.get("cleanup.policy").value(),
        Long.parseLong(set.get("retention.ms").value()),
        Integer.parseInt(set.get("max.message.bytes").value()));
  }

  /**
   * Creates a topic.
   *
   * @return false if somebody else created it first
   */
  boolean create(NewTopic topic) {
    try {
      await(topic.name(), admin.createTopics(List.of(topic)).all());
      return true;
    } catch (KafkaUnavailableException e) {
      if (e.getCause() instanceof TopicExistsException) {
        return false;
      }
      throw e;
    }
  }

  @Override
  public void close() {
    admin.close(Duration.ofSeconds(2));
  }

  private <T> T await(String what, KafkaFuture<T> answer) {
    try {
      // A little more than the client's own limit, so that its own error is the one we see.
      return answer.get(timeout.toMillis() + 1_000, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new KafkaUnavailableException(explain(what, cause), cause);
    } catch (TimeoutException e) {
      throw new KafkaUnavailableException(noAnswer(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new KafkaUnavailableException("interrupted while waiting for Kafka", e);
    }
  }

  private String explain(String what, Throwable cause) {
    if (cause instanceof org.apache.kafka.common.errors.TimeoutException) {
      return noAnswer();
    }
    if (cause instanceof AuthenticationException) {
      return config.said(Key.KAFKA_BOOTSTRAP_SERVERS)
          + ": the broker refused the login: "
          + cause.getMessage()
          + "; correct the kafka.security, kafka.sasl and kafka.ssl settings";
    }
    if (cause instanceof AuthorizationException) {
      return "Kafka does not allow this login to use "
          + what
          + ": "
          + cause.getMessage()
          + "; grant it by an ACL";
    }
    if (cause instanceof InvalidReplicationFactorException) {
      return config.said(Key.TOPICS_REPLICATION)
          + " is more than there are brokers: "
          + cause.getMessage()
          + "; lower it, or start more brokers";
    }
    return "Kafka failed on " + what + ": " + cause;
  }

  private String noAnswer() {
    return config.said(Key.KAFKA_BOOTSTRAP_SERVERS)
        + ": no Kafka broker answered at "
        + config.text(Key.KAFKA_BOOTSTRAP_SERVERS)
        + " within "
        + timeout.toMillis()
        + " ms; start one (escapement up runs its own) or correct the setting";
  }

  private static String refusedSettings(Config config, KafkaException e) {
    Throwable cause = e.getCause() == null ? e : e.getCause();
    return String.valueOf(cause.getMessage()).contains("bootstrap")
        ? config.said(Key.KAFKA_BOOTSTRAP_SERVERS)
            + ": the name in "
            + config.text(Key.KAFKA_BOOTSTRAP_SERVERS)
            + " can't be resolved; correct the setting"
        : "Kafka's client refuses its settings: "
            + cause.getMessage()
            + "; correct the kafka.* settings";
  }
}
