package io.escapement.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class BatchesTest {

  private static final TopicPartition A = new TopicPartition("t", 0);
  private static final TopicPartition B = new TopicPartition("t", 1);

  private final Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> polled =
      new LinkedHashMap<>();
  private final Map<TopicPartition, OffsetAndMetadata> ends = new LinkedHashMap<>();

  @Test
  void nothingPolledIsNoBatch() {
    assertThat(batches(10, 1_000)).isEmpty();
  }

  @Test
  void aBatchEndsAtItsNumberOfRecordsAndThePositionsFollow() {
    add(A, 50, 10, 11, 15);
    add(B, 7, 1, 5);
    assertThat(batches(2, 100_000))
        .containsExactly("[t-0: 10,11 -> 12]", "[t-0: 15 -> 50, t-1: 1 -> 2]", "[t-1: 5 -> 7]");
  }

  @Test
  void aBatchEndsBeforeItGrowsPastItsBytes() {
    add(A, 6, 1, 2, 3, 4, 5);
    // Key 3 bytes and value 12 bytes, no headers.
    assertThat(batches(100, 31))
        .containsExactly("[t-0: 1,2 -> 3]", "[t-0: 3,4 -> 5]", "[t-0: 5 -> 6]");
    assertThat(batches(100, 5)).hasSize(5);
  }

  @Test
  void aPositionThatMovedWithoutRecordsIsInTheLastBatch() {
    add(A, 3, 1, 2);
    ends.put(B, new OffsetAndMetadata(9));
    assertThat(batches(10, 1_000)).containsExactly("[t-0: 1,2 -> 3, t-1:  -> 9]");
  }

  @Test
  void withoutAnEndThePositionFollowsTheLastRecord() {
    add(A, 3, 1, 2);
    ends.clear();
    assertThat(batches(10, 1_000)).containsExactly("[t-0: 1,2 -> 3]");
  }

  private void add(TopicPartition partition, long end, long... offsets) {
    List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
    for (long offset : offsets) {
      records.add(RecordBuilder.bare().offset(offset).consumed());
    }
    polled.put(partition, records);
    ends.put(partition, new OffsetAndMetadata(end));
  }

  private List<String> batches(int maxRecords, long maxBytes) {
    return Batches.of(new ConsumerRecords<>(polled, ends), maxRecords, maxBytes).stream()
        .map(batch -> batch.stream().map(BatchesTest::describe).toList().toString())
        .toList();
  }

  private static String describe(Share share) {
    List<String> offsets =
        share.records().stream().map(record -> String.valueOf(record.offset())).toList();
    return share.partition() + ": " + String.join(",", offsets) + " -> " + share.next();
  }
}
