package io.escapement.dispatcher;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.common.KafkaException;

/** Says at start, in one line, that a broker or a topic is missing. */
final class TopicCheck {

  private static final int ANSWER_LIMIT_SECONDS = 15;

  private TopicCheck() {}

  /**
   * Asks the broker for topics.
   *
   * @throws DispatcherException if it does not answer, or one is missing
   */
  static void requireTopics(Map<String, String> kafka, Collection<String> topics) {
    String servers = String.valueOf(kafka.get(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG));
    Map<String, Object> properties = new HashMap<>(kafka);
    properties.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, "5000");
    properties.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, "10000");
    Set<String> missing = new TreeSet<>(topics);
    try (Admin admin = Admin.create(properties)) {
      missing.removeAll(admin.listTopics().names().get(ANSWER_LIMIT_SECONDS, TimeUnit.SECONDS));
    } catch (ExecutionException | TimeoutException | KafkaException e) {
      throw new DispatcherException(
          "kafka.bootstrap-servers: no broker answers at "
              + servers
              + "; start it or correct the address",
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DispatcherException("interrupted while asking " + servers + " for its topics", e);
    }
    if (!missing.isEmpty()) {
      throw new DispatcherException(
          "topics.prefix: the broker at "
              + servers
              + " has no topic "
              + String.join(", ", missing)
              + "; run 'escapement migrate', which creates them");
    }
  }
}
