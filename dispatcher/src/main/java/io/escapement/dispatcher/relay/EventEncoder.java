package io.escapement.dispatcher.relay;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.escapement.ledger.OutboxEntry;
import io.escapement.ledger.OutboxEvent;
import io.escapement.ledger.RecordEnvelope;
import io.escapement.ledger.TopicNames;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Turns the events of an outbox row into Kafka records: CloudEvents in Kafka's binary mode, except
 * dead letters, which keep the form in which they came.
 *
 * <p>An event's id is the row's id and the event's index in it, so the same event has the same id
 * however often it is sent. Thread rule: one thread.
 */
final class EventEncoder {

  private static final byte[] SPEC_VERSION = "1.0".getBytes(UTF_8);
  private static final byte[] JSON = "application/json".getBytes(UTF_8);
  private static final byte[] TRUE = "true".getBytes(UTF_8);

  private final TopicNames topics;
  private final ToIntFunction<String> partitions;
  private final byte[] source;
  private final EventJson json = new EventJson();

  /**
   * An encoder for one ledger.
   *
   * @param partitions how many partitions a topic has
   */
  EventEncoder(TopicNames topics, UUID ledgerId, ToIntFunction<String> partitions) {
    this.topics = topics;
    this.partitions = partitions;
    this.source = ("/escapement/" + ledgerId).getBytes(UTF_8);
  }

  /**
   * Encodes a row's events, in order.
   *
   * @param repeated whether they may have been sent before
   * @return how many there were
   * @throws RelayFailedException if the row is not one
   */
  int encode(
      OutboxEntry row, boolean repeated, Consumer<ProducerRecord<byte[], byte[]>> destination) {
    byte[] time = row.createdAt().toString().getBytes(UTF_8);
    int index = 0;
    for (OutboxEvent event : read(row)) {
      String id = row.id() + "-" + index++;
      destination.accept(
          switch (event) {
            case OutboxEvent.Receipt receipt -> {
              String type = "io.escapement.receipt." + receipt.decision().word();
              yield cloudEvent(receipt(receipt), id, type, time, repeated);
            }
            case OutboxEvent.CommandReceipt receipt -> {
              String type = "io.escapement.receipt.command." + receipt.decision().word();
              yield cloudEvent(commandReceipt(receipt), id, type, time, repeated);
            }
            case OutboxEvent.Hint hint ->
                cloudEvent(hint(hint), id, "io.escapement.dispatch.hint", time, repeated);
            case OutboxEvent.Outcome outcome -> {
              String type = "io.escapement.task." + outcome.change();
              yield cloudEvent(outcome(outcome), id, type, time, repeated);
            }
            case OutboxEvent.DeadLetter letter -> deadLetter(letter, repeated);
          });
    }
    return index;
  }

  /** Tells whoever listens to a dispatch partition to load its slots from the ledger anew. */
  ProducerRecord<byte[], byte[]> reload(String topic, int partition) {
    ProducerRecord<byte[], byte[]> record =
        record(topic, partition, "reload", "{}".getBytes(UTF_8));
    Instant now = Instant.now();
    String id = "reload-" + now.toEpochMilli() + "-" + partition;
    byte[] time = now.toString().getBytes(UTF_8);
    return cloudEvent(record, id, "io.escapement.dispatch.reload", time, false);
  }

  private static List<OutboxEvent> read(OutboxEntry row) {
    try {
      return row.events();
    } catch (RuntimeException e) {
      throw new RelayFailedException("outbox row " + row.id() + " can't be read: " + e, e);
    }
  }

  /** What a consumer groups an identity's events by. */
  static String identityKey(String namespace, String id) {
    return namespace + "|" + id;
  }

  private ProducerRecord<byte[], byte[]> receipt(OutboxEvent.Receipt receipt) {
    String key =
        receiptKey(
            receipt.namespace(),
            receipt.id(),
            receipt.topic(),
            receipt.partition(),
            receipt.offset());
    return record(topics.receipts(), null, key, json.receipt(receipt));
  }

  private ProducerRecord<byte[], byte[]> commandReceipt(OutboxEvent.CommandReceipt receipt) {
    String key =
        receiptKey(
            receipt.source(), receipt.id(), receipt.topic(), receipt.partition(), receipt.offset());
    return record(topics.receipts(), null, key, json.commandReceipt(receipt));
  }

  /** The identity; where that could not be read, the record. */
  private static String receiptKey(
      @Nullable String namespace, @Nullable String id, String topic, int partition, long offset) {
    return namespace == null || id == null
        ? topic + "-" + partition + "-" + offset
        : identityKey(namespace, id);
  }

  private ProducerRecord<byte[], byte[]> hint(OutboxEvent.Hint hint) {
    String topic = topics.dispatch(hint.queue());
    int partition = hint.slot() % partitions.applyAsInt(topic);
    return record(topic, partition, Long.toString(hint.task()), json.hint(hint));
  }

  private ProducerRecord<byte[], byte[]> outcome(OutboxEvent.Outcome outcome) {
    String key = identityKey(outcome.namespace(), outcome.id());
    return record(topics.outcomes(), null, key, json.outcome(outcome));
  }

  private ProducerRecord<byte[], byte[]> deadLetter(
      OutboxEvent.DeadLetter letter, boolean repeated) {
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(topics.deadLetters(), null, letter.envelope().key(), letter.value());
    Headers headers = record.headers();
    for (RecordEnvelope.Header header : letter.envelope().headers()) {
      headers.add(header.name(), header.value());
    }
    headers.add("escapement_reason", letter.reason().getBytes(UTF_8));
    headers.add("escapement_topic", letter.topic().getBytes(UTF_8));
    headers.add("escapement_partition", Integer.toString(letter.partition()).getBytes(UTF_8));
    headers.add("escapement_offset", Long.toString(letter.offset()).getBytes(UTF_8));
    if (letter.withheld()) {
      headers.add("escapement_withheld", TRUE);
    }
    if (repeated) {
      headers.add("escapement_repeated", TRUE);
    }
    return record;
  }

  private static ProducerRecord<byte[], byte[]> record(
      String topic, @Nullable Integer partition, String key, byte[] value) {
    return new ProducerRecord<>(topic, partition, key.getBytes(UTF_8), value);
  }

  private ProducerRecord<byte[], byte[]> cloudEvent(
      ProducerRecord<byte[], byte[]> record,
      String id,
      String type,
      byte[] time,
      boolean repeated) {
    Headers headers = record.headers();
    headers.add("ce_specversion", SPEC_VERSION);
    headers.add("ce_id", id.getBytes(UTF_8));
    headers.add("ce_source", source);
    headers.add("ce_type", type.getBytes(UTF_8));
    headers.add("ce_time", time);
    headers.add("content-type", JSON);
    if (repeated) {
      headers.add("ce_repeated", TRUE);
    }
    return record;
  }
}
