package io.escapement.ingest;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;

/** A record of a requests topic, sound unless a test makes it otherwise. */
final class RecordBuilder {

  static final String TOPIC = "escapement.requests";

  /** 2026-03-01T12:00:00Z. */
  static final long TIMESTAMP = 1_772_366_400_000L;

  private String topic = TOPIC;
  private long offset = 7;
  private long timestamp = TIMESTAMP;
  private byte @Nullable [] key = bytes("key");
  private byte @Nullable [] value = bytes("{\"amount\":1}");
  private final Headers headers = new RecordHeaders();

  private RecordBuilder() {}

  /** A sound request in binary mode. */
  static RecordBuilder binary() {
    return bare()
        .header("ce_specversion", "1.0")
        .header("ce_id", "id-1")
        .header("ce_source", "/bookings")
        .header("ce_type", "work")
        .header("ce_tenant", "acme");
  }

  /** A record in structured mode. */
  static RecordBuilder structured(String json) {
    return bare().header("content-type", "application/cloudevents+json").value(bytes(json));
  }

  /** A sound event in JSON, with more members. */
  static String json(String... members) {
    String more = members.length == 0 ? "" : "," + String.join(",", members);
    return "{\"specversion\":\"1.0\",\"id\":\"id-1\",\"source\":\"/bookings\","
        + "\"type\":\"work\",\"tenant\":\"acme\""
        + more
        + "}";
  }

  static RecordBuilder bare() {
    return new RecordBuilder();
  }

  RecordBuilder topic(String name) {
    this.topic = name;
    return this;
  }

  RecordBuilder offset(long at) {
    this.offset = at;
    return this;
  }

  RecordBuilder timestamp(long millis) {
    this.timestamp = millis;
    return this;
  }

  RecordBuilder key(byte @Nullable [] bytes) {
    this.key = bytes;
    return this;
  }

  RecordBuilder value(byte @Nullable [] bytes) {
    this.value = bytes;
    return this;
  }

  RecordBuilder header(String name, String text) {
    return header(name, bytes(text));
  }

  RecordBuilder header(String name, byte @Nullable [] bytes) {
    headers.add(name, bytes);
    return this;
  }

  /** Sets a header in place of those of the same name. */
  RecordBuilder with(String name, String text) {
    headers.remove(name);
    return header(name, text);
  }

  RecordBuilder without(String name) {
    headers.remove(name);
    return this;
  }

  @SuppressWarnings("NullAway") // Kafka's records have keys and values that are null.
  ConsumerRecord<byte[], byte[]> consumed() {
    return new ConsumerRecord<>(
        topic,
        0,
        offset,
        timestamp,
        TimestampType.CREATE_TIME,
        key == null ? -1 : key.length,
        value == null ? -1 : value.length,
        key,
        value,
        headers,
        Optional.empty());
  }

  /** The record as a producer sends it, stamped by the producer's clock. */
  @SuppressWarnings("NullAway") // As above.
  ProducerRecord<byte[], byte[]> toProduce(int partition) {
    return new ProducerRecord<>(topic, partition, null, key, value, headers);
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
