package io.escapement.ingest;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * Cuts what a poll brought into batches of bounded size, in offset order within each partition.
 *
 * <p>A poll's records are bounded in number but not in bytes: what was fetched may have been
 * compressed. Thread rule: one poll, one thread.
 */
final class Batches {

  private final int maxRecords;
  private final long maxBytes;
  private final List<List<Share>> batches = new ArrayList<>();
  private final List<Share> shares = new ArrayList<>();
  private int records;
  private long bytes;

  private Batches(int maxRecords, long maxBytes) {
    this.maxRecords = maxRecords;
    this.maxBytes = maxBytes;
  }

  /** Cuts a poll; a record that is larger than {@code maxBytes} is a batch of its own. */
  static List<List<Share>> of(
      ConsumerRecords<byte[], byte[]> polled, int maxRecords, long maxBytes) {
    Batches cutter = new Batches(maxRecords, maxBytes);
    Map<TopicPartition, Long> ends = new HashMap<>();
    for (Map.Entry<TopicPartition, OffsetAndMetadata> end : polled.nextOffsets().entrySet()) {
      ends.put(end.getKey(), end.getValue().offset());
    }
    for (TopicPartition partition : polled.partitions()) {
      cutter.add(partition, polled.records(partition), ends.remove(partition));
    }
    // Nothing but markers and aborted records was there: the position moves all the same, or a
    // retention that deletes them would look like one that overtook us.
    ends.forEach((partition, end) -> cutter.shares.add(new Share(partition, List.of(), end)));
    cutter.close();
    return cutter.batches;
  }

  private void add(
      TopicPartition partition, List<ConsumerRecord<byte[], byte[]>> polled, @Nullable Long end) {
    List<ConsumerRecord<byte[], byte[]>> part = new ArrayList<>();
    long next = 0;
    for (ConsumerRecord<byte[], byte[]> record : polled) {
      long size = bytes(record);
      if (records > 0 && (records == maxRecords || bytes + size > maxBytes)) {
        share(partition, part, next);
        part = new ArrayList<>();
        close();
      }
      part.add(record);
      next = record.offset() + 1;
      records++;
      bytes += size;
    }
    share(partition, part, end == null ? next : Math.max(next, end));
  }

  private void share(
      TopicPartition partition, List<ConsumerRecord<byte[], byte[]>> part, long next) {
    if (!part.isEmpty()) {
      shares.add(new Share(partition, part, next));
    }
  }

  private void close() {
    if (!shares.isEmpty()) {
      batches.add(List.copyOf(shares));
    }
    shares.clear();
    records = 0;
    bytes = 0;
  }

  private static long bytes(ConsumerRecord<byte[], byte[]> record) {
    long size =
        Math.max(0, record.serializedKeySize()) + (long) Math.max(0, record.serializedValueSize());
    for (Header header : record.headers()) {
      byte @Nullable [] value = header.value();
      size += header.key().length() + (value == null ? 0 : value.length);
    }
    return size;
  }
}
