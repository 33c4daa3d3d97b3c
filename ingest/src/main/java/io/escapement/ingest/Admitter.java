package io.escapement.ingest;

import io.escapement.ledger.Admission;
import io.escapement.ledger.AdmissionBatch;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.LedgerException;
import io.escapement.ledger.PartitionKey;
import io.escapement.ledger.PositionAdvance;
import io.escapement.ledger.Submission;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the ledger decide a batch, whatever its records contain and whoever else moved its
 * partitions.
 *
 * <p>A partition that the fence refuses is dropped from the batch and forgotten; the others are
 * decided in a further call. A batch whose <em>content</em> the ledger can't store, which should
 * not happen after {@link RequestReader}, is decided record by record, and the record at fault is
 * refused: one record never holds up its neighbours. Where record after record can't be stored, the
 * ledger is at fault, and nothing more is refused.
 *
 * <p>Thread rule: the consumer's thread. Failure: {@link LedgerException}, and then every position
 * must be read again.
 */
final class Admitter {

  private static final Logger LOG = LoggerFactory.getLogger(Admitter.class);

  /** Where so many in a row can't be stored, the fault is hardly the records'. */
  private static final int MAX_UNSTORABLE_IN_A_ROW = 10;

  private final Ledger ledger;
  private final Partitions partitions;
  private final IngestStats stats;
  private int unstorableInARow;

  Admitter(Ledger ledger, Partitions partitions, IngestStats stats) {
    this.ledger = ledger;
    this.partitions = partitions;
    this.stats = stats;
  }

  /**
   * Decides a batch; shares of partitions that are not consumed (any more) are left out.
   *
   * @return the shares that are decided
   */
  List<Share> admit(List<Share> batch, RequestReader reader) {
    List<Share> left = consumedOf(batch);
    while (!left.isEmpty()) {
      Admission admission;
      try {
        admission = ledger.admit(compose(left, reader));
      } catch (LedgerException e) {
        if (!e.blamesContent()) {
          throw e;
        }
        LOG.warn("a batch can't be stored, deciding it record by record: {}", WireText.oneLine(e));
        return admitOneByOne(left, reader);
      }
      switch (admission) {
        case Admission.Decided decided -> {
          unstorableInARow = 0;
          settle(left, decided);
          return left;
        }
        case Admission.Fenced fenced -> left = withoutFenced(left, fenced);
      }
    }
    return left;
  }

  private List<Share> admitOneByOne(List<Share> batch, RequestReader reader) {
    List<Share> decided = new ArrayList<>();
    for (Share share : batch) {
      int last = share.records().size() - 1;
      for (int i = 0; i <= last && partitions.at(share.partition()) != null; i++) {
        ConsumerRecord<byte[], byte[]> record = share.records().get(i);
        long next = i == last ? share.next() : record.offset() + 1;
        decided.addAll(
            admitOne(new Share(share.partition(), List.of(record), next), record, reader));
      }
    }
    return decided;
  }

  private List<Share> admitOne(
      Share share, ConsumerRecord<byte[], byte[]> record, RequestReader reader) {
    List<Share> batch = List.of(share);
    Admission admission;
    try {
      admission = ledger.admit(compose(batch, reader));
      unstorableInARow = 0;
    } catch (LedgerException e) {
      if (!e.blamesContent() || unstorableInARow >= MAX_UNSTORABLE_IN_A_ROW) {
        throw e;
      }
      admission = refuse(share, record, reader, e);
      unstorableInARow++;
      stats.isolatedRecord();
    }
    return switch (admission) {
      case Admission.Decided decided -> {
        settle(batch, decided);
        yield batch;
      }
      case Admission.Fenced fenced -> withoutFenced(batch, fenced);
    };
  }

  /** Refuses a record that can't be stored, with its bytes if at least they can. */
  private Admission refuse(
      Share share,
      ConsumerRecord<byte[], byte[]> record,
      RequestReader reader,
      LedgerException failure) {
    LOG.error(
        "{} at offset {} can't be stored and is refused: {}",
        share.partition(),
        record.offset(),
        WireText.oneLine(failure));
    String reason = "record: the ledger can't store it (SQLSTATE " + failure.sqlState() + ")";
    List<PositionAdvance> positions = List.of(advance(share));
    try {
      return ledger.admit(new AdmissionBatch(positions, List.of(reader.refuse(record, 0, reason))));
    } catch (LedgerException e) {
      if (!e.blamesContent()) {
        throw e;
      }
      return ledger.admit(
          new AdmissionBatch(positions, List.of(RequestReader.withhold(record, 0, reason))));
    }
  }

  private AdmissionBatch compose(List<Share> shares, RequestReader reader) {
    List<PositionAdvance> positions = new ArrayList<>(shares.size());
    List<Submission> submissions = new ArrayList<>();
    for (Share share : shares) {
      int index = positions.size();
      positions.add(advance(share));
      for (ConsumerRecord<byte[], byte[]> record : share.records()) {
        submissions.add(reader.read(record, index));
      }
    }
    return new AdmissionBatch(positions, submissions);
  }

  private PositionAdvance advance(Share share) {
    Placement.At at = partitions.at(share.partition());
    if (at == null) {
      throw new IllegalStateException(share.partition() + " is not consumed");
    }
    if (at.row() != null
        && !share.records().isEmpty()
        && share.records().getFirst().offset() < at.row()) {
      throw new IllegalStateException(
          share.partition()
              + ": offset "
              + share.records().getFirst().offset()
              + " lies before the position "
              + at.row());
    }
    return new PositionAdvance(at.key(), at.row(), share.next());
  }

  private void settle(List<Share> shares, Admission.Decided decided) {
    int records = shares.stream().mapToInt(share -> share.records().size()).sum();
    if (decided.decisions().size() != records) {
      throw new IllegalStateException(
          decided.decisions().size() + " decisions for " + records + " records");
    }
    shares.forEach(share -> partitions.advance(share.partition(), share.next()));
    decided.decisions().forEach(one -> stats.decided(one.decision()));
    stats.batch();
  }

  private List<Share> withoutFenced(List<Share> shares, Admission.Fenced fenced) {
    List<TopicPartition> lost = new ArrayList<>();
    for (PartitionKey key : fenced.partitions()) {
      lost.add(new TopicPartition(key.topic(), key.partition()));
    }
    if (lost.isEmpty()) {
      throw new IllegalStateException("fenced, but no partition is named");
    }
    LOG.warn("another owner has moved {}: dropping what was read of them", lost);
    stats.fenced(lost.size());
    partitions.forget(lost);
    return consumedOf(shares);
  }

  private List<Share> consumedOf(List<Share> shares) {
    return shares.stream()
        .filter(
            share -> {
              Placement.At at = partitions.at(share.partition());
              return at != null && share.moves(at.row());
            })
        .toList();
  }
}
