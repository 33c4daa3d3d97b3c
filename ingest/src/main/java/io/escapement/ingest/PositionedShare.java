package io.escapement.ingest;

import io.escapement.ledger.PositionAdvance;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * A share with where the ledger is believed to stand when it is decided.
 *
 * @param epoch the partition's placement that this follows from; what becomes of the share concerns
 *     no other
 */
record PositionedShare(Share share, PositionAdvance advance, long epoch) {

  TopicPartition partition() {
    return share.partition();
  }

  /** From a record on, after those before it were decided. */
  PositionedShare alone(ConsumerRecord<byte[], byte[]> record, @Nullable Long expected, long next) {
    return new PositionedShare(
        new Share(share.partition(), List.of(record), next),
        new PositionAdvance(advance.partition(), expected, next, advance.whenFull()),
        epoch);
  }
}
