package io.escapement.ingest;

import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * One partition's part of a batch.
 *
 * @param records in offset order; none where only transaction markers were passed, or nothing at
 *     all: then the ledger learns of the partition, and a retention that empties it before the
 *     first decision is noticed
 * @param next the position after it
 */
record Share(TopicPartition partition, List<ConsumerRecord<byte[], byte[]>> records, long next) {
  Share {
    records = List.copyOf(records);
  }

  /** Whether it says anything that the ledger, whose position is {@code row}, does not know. */
  boolean moves(@Nullable Long row) {
    return !records.isEmpty() || row == null || next > row;
  }
}
