package io.escapement.bench;

import io.escapement.assembly.CommandFailure;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntFunction;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests in binary mode, spread evenly over partitions and tenants.
 *
 * <p>Thread rule: one thread. Failure: the first record that Kafka refuses is told by {@link
 * #finish}.
 */
final class RequestProducer implements AutoCloseable {

  private static final byte[] SPEC_VERSION = bytes("1.0");
  private static final byte[] CONTENT_TYPE = bytes("application/octet-stream");
  private static final byte[] SOURCE = bytes(BenchWorld.SOURCE);
  private static final byte[] KIND = bytes(BenchWorld.KIND);

  private final KafkaProducer<byte[], byte[]> producer;
  private final String topic;
  private final int partitions;
  private final byte[][] tenants;
  private final byte[] value;
  private int sent;
  private volatile @Nullable Exception failure;

  /**
   * A producer.
   *
   * @param lingerMillis how long a record may wait for others
   */
  RequestProducer(BenchWorld world, int tenants, int valueBytes, int lingerMillis) {
    Map<String, Object> properties = new HashMap<>(world.config().kafkaClient());
    properties.put(ProducerConfig.ACKS_CONFIG, "all");
    properties.put(ProducerConfig.LINGER_MS_CONFIG, lingerMillis);
    properties.put(ProducerConfig.BATCH_SIZE_CONFIG, 128 * 1024);
    this.producer =
        new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
    this.topic = world.topics().requests();
    this.partitions = world.partitions();
    this.tenants = new byte[tenants][];
    for (int t = 0; t < tenants; t++) {
      this.tenants[t] = bytes("tenant-" + t);
    }
    this.value = bytes("x".repeat(valueBytes));
  }

  /** Sends events with some ids. */
  void send(int count, IntFunction<String> id) {
    for (int i = 0; i < count; i++) {
      send(id.apply(i));
    }
  }

  /** Sends one event; the answer comes later. */
  void send(String id) {
    byte[] idBytes = bytes(id);
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(topic, sent % partitions, idBytes, value);
    Headers headers = record.headers();
    headers.add("ce_specversion", SPEC_VERSION);
    headers.add("ce_id", idBytes);
    headers.add("ce_source", SOURCE);
    headers.add("ce_type", KIND);
    headers.add("ce_tenant", tenants[sent % tenants.length]);
    headers.add("content-type", CONTENT_TYPE);
    sent++;
    var unused =
        producer.send(
            record,
            (metadata, error) -> {
              if (error != null) {
                failure = error;
              }
            });
  }

  /** Waits until everything is in Kafka. */
  void finish() {
    producer.flush();
    Exception refused = failure;
    if (refused != null) {
      throw new CommandFailure("Kafka refused a request: " + refused.getMessage(), refused);
    }
  }

  @Override
  public void close() {
    producer.close();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
