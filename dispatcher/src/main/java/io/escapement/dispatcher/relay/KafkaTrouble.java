package io.escapement.dispatcher.relay;

import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTxnTimeoutException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** Says in one line what Kafka has against it, and what to change. */
final class KafkaTrouble {

  private KafkaTrouble() {}

  /** While clients are made and the first requests sent. */
  static RelayFailedException connecting(RelayConfig config, Throwable e) {
    Throwable cause = root(e);
    if (cause instanceof TimeoutException || cause instanceof ConfigException) {
      return new RelayFailedException(
          "kafka.bootstrap-servers: no broker answers at "
              + config.bootstrapServers()
              + " ("
              + cause.getMessage()
              + "); start Kafka or correct the address",
          e);
    }
    if (cause instanceof InvalidTxnTimeoutException) {
      return new RelayFailedException(
          "relay.first-timeout and relay.transaction-timeout must not exceed the broker's"
              + " transaction.max.timeout.ms",
          e);
    }
    return failed(config, "starting", e);
  }

  /** A record was not taken. */
  static RelayFailedException refused(
      RelayConfig config, String record, String topic, Throwable error) {
    Throwable cause = root(error);
    if (cause instanceof RecordTooLargeException) {
      return new RelayFailedException(
          "Kafka refuses "
              + record
              + " as too large; raise max.message.bytes of the topic and kafka.max.request.size",
          error);
    }
    if (cause instanceof UnknownTopicOrPartitionException
        || (cause instanceof TimeoutException
            && String.valueOf(cause.getMessage()).contains("not present in metadata"))) {
      return new RelayFailedException(missing(topic), error);
    }
    if (cause instanceof AuthorizationException) {
      return new RelayFailedException(
          "Kafka refuses " + record + ": " + cause.getMessage() + "; grant the ACL", error);
    }
    if (isFenced(cause)) {
      return failed(config, "sending", error);
    }
    return new RelayFailedException("Kafka refuses " + record + ": " + cause, error);
  }

  /** Anything else. */
  static RelayFailedException failed(RelayConfig config, String doing, Throwable error) {
    Throwable cause = root(error);
    if (isFenced(cause)) {
      return new RelayFailedException("another relay has taken over (" + doing + ")", error);
    }
    if (cause instanceof AuthenticationException || cause instanceof AuthorizationException) {
      return new RelayFailedException(
          "Kafka at "
              + config.bootstrapServers()
              + " does not let the relay in ("
              + doing
              + "): "
              + cause.getMessage(),
          error);
    }
    return new RelayFailedException("Kafka: " + doing + " failed: " + cause.getMessage(), error);
  }

  /** A topic that the relay writes is not there. */
  static String missing(String topic) {
    return "the Kafka topic '"
        + topic
        + "' is missing; create it with: escapement migrate (or correct topics.prefix)";
  }

  static boolean isFenced(Throwable error) {
    Throwable cause = root(error);
    return cause instanceof ProducerFencedException
        || cause instanceof InvalidProducerEpochException;
  }

  /** Kafka wraps what went wrong in exceptions that only say where it was noticed. */
  private static Throwable root(Throwable e) {
    Throwable cause = e;
    while (cause.getCause() != null
        && (cause.getClass() == KafkaException.class
            || cause instanceof java.util.concurrent.ExecutionException)) {
      cause = cause.getCause();
    }
    return cause;
  }
}
