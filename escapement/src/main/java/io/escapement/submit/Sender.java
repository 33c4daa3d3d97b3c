package io.escapement.submit;

import io.escapement.assembly.CommandFailure;
import io.escapement.submit.Receipt.Coordinates;
import io.escapement.submit.RequestLines.Line;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * Sends lines to a requests topic, each with its identity as the key, and remembers where they
 * went.
 *
 * <p>Cost: batches as the client makes them. Ordering: lines with the same identity keep their
 * order. Thread rule: one thread sends. Failure: the first line that can't be sent is told by
 * {@link #finish}; those before and after it may have been sent.
 */
public final class Sender implements AutoCloseable {

  private static final byte[] STRUCTURED =
      "application/cloudevents+json".getBytes(StandardCharsets.UTF_8);

  private final KafkaProducer<byte[], byte[]> producer;
  private final String topic;
  private final List<Coordinates> sent = new ArrayList<>();
  private @Nullable CommandFailure failure;

  /** Opens a producer for one topic. */
  public Sender(Map<String, String> kafka, String topic, Duration timeout) {
    Map<String, Object> properties = new HashMap<>(kafka);
    int millis = (int) timeout.toMillis();
    properties.put(ProducerConfig.ACKS_CONFIG, "all");
    properties.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
    properties.putIfAbsent(ProducerConfig.LINGER_MS_CONFIG, "5");
    properties.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, millis);
    properties.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, millis);
    properties.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, 3 * millis);
    this.producer =
        new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
    this.topic = topic;
  }

  /** Sends a line; the answer comes later. */
  public void send(Line line) {
    ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, line.key(), line.value());
    record.headers().add("content-type", STRUCTURED);
    var unused = producer.send(record, (metadata, error) -> answered(line, metadata, error));
  }

  /** How many lines are in Kafka by now. */
  public synchronized int count() {
    return sent.size();
  }

  /** Waits until every line is in Kafka; returns where. */
  public List<Coordinates> finish() {
    producer.flush();
    synchronized (this) {
      Optional.ofNullable(failure)
          .ifPresent(
              e -> {
                throw e;
              });
      return List.copyOf(sent);
    }
  }

  @Override
  public void close() {
    producer.close(Duration.ofSeconds(2));
  }

  private synchronized void answered(
      Line line, RecordMetadata metadata, @Nullable Exception error) {
    if (error == null) {
      sent.add(new Coordinates(metadata.topic(), metadata.partition(), metadata.offset()));
    } else if (failure == null) {
      failure =
          new CommandFailure(
              "line "
                  + line.number()
                  + " could not be sent to "
                  + topic
                  + ": "
                  + error.getMessage(),
              error);
    }
  }
}
