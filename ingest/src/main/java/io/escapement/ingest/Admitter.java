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
import java.util.Objects;
import java.util.concurrent.Callable;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the ledger decide a batch, whatever its records contain and whoever else moved its
 * partitions.
 *
 * <p>A partition that the fence refuses is dropped from the batch; the others are decided in a
 * further call. A batch whose <em>content</em> the ledger can't store, which should not happen
 * after {@link RequestReader}, is decided record by record, and the record at fault is refused: one
 * record never holds up its neighbours. Where record after record can't be stored, the ledger is at
 * fault, and nothing more is refused.
 *
 * <p>Thread rule: that of {@link Decider}.
 */
final class Admitter implements Decider {

  private static final Logger LOG = LoggerFactory.getLogger(Admitter.class);

  /** Where so many in a row can't be stored, the fault is hardly the records'. */
  private static final int MAX_UNSTORABLE_IN_A_ROW = 10;

  private final Ledger ledger;
  private final String requestsTopic;
  private final IngestStats stats;
  private int unstorableInARow;
  private @Nullable RequestReader reader;

  Admitter(Ledger ledger, String requestsTopic, IngestStats stats) {
    this.ledger = ledger;
    this.requestsTopic = requestsTopic;
    this.stats = stats;
  }

  @Override
  public void heed(int maxPayloadBytes) {
    reader = new RequestReader(requestsTopic, maxPayloadBytes);
  }

  @Override
  public Callable<Verdict> prepare(List<PositionedShare> shares) {
    Batch batch = Batch.of(shares, Objects.requireNonNull(reader, "the limits are not known"));
    return () -> admit(batch);
  }

  /** A batch, read. */
  private record Batch(List<PositionedShare> shares, AdmissionBatch content, RequestReader reader) {
    static Batch of(List<PositionedShare> shares, RequestReader reader) {
      List<PositionAdvance> positions = new ArrayList<>(shares.size());
      List<Submission> submissions = new ArrayList<>();
      for (PositionedShare share : shares) {
        int index = positions.size();
        positions.add(share.advance());
        for (ConsumerRecord<byte[], byte[]> record : share.share().records()) {
          submissions.add(reader.read(record, index));
        }
      }
      return new Batch(List.copyOf(shares), new AdmissionBatch(positions, submissions), reader);
    }
  }

  private Verdict admit(Batch batch) {
    List<PositionedShare> fenced = new ArrayList<>();
    Batch left = batch;
    while (!left.shares().isEmpty()) {
      Admission admission;
      try {
        admission = ledger.admit(left.content());
      } catch (LedgerException e) {
        if (!e.blamesContent()) {
          throw e;
        }
        LOG.warn("a batch can't be stored, deciding it record by record: {}", WireText.oneLine(e));
        Verdict verdict = admitOneByOne(left);
        fenced.addAll(verdict.fenced());
        return new Verdict(verdict.settled(), fenced);
      }
      switch (admission) {
        case Admission.Decided decided -> {
          unstorableInARow = 0;
          return new Verdict(settle(left.shares(), decided), fenced);
        }
        case Admission.Fenced answer -> {
          List<PositionedShare> lost = sharesOf(left.shares(), answer);
          fenced.addAll(lost);
          List<PositionedShare> others = new ArrayList<>(left.shares());
          others.removeAll(lost);
          left = Batch.of(others, left.reader());
        }
      }
    }
    return new Verdict(List.of(), fenced);
  }

  private Verdict admitOneByOne(Batch batch) {
    List<Verdict.Settled> settled = new ArrayList<>();
    List<PositionedShare> fenced = new ArrayList<>();
    for (PositionedShare share : batch.shares()) {
      List<ConsumerRecord<byte[], byte[]>> records = share.share().records();
      @Nullable Long expected = share.advance().expected();
      int decided = 0;
      Verdict.@Nullable Wait wait = null;
      while (decided < records.size() && wait == null) {
        ConsumerRecord<byte[], byte[]> record = records.get(decided);
        long next = decided == records.size() - 1 ? share.share().next() : record.offset() + 1;
        Admission admission = admitOne(share.alone(record, expected, next), record, batch.reader());
        if (!(admission instanceof Admission.Decided answer)) {
          break;
        }
        Verdict.Settled one = settle(List.of(share.alone(record, expected, next)), answer).get(0);
        wait = one.waitsAt();
        expected = one.next();
        decided += one.records();
      }
      if (expected != null && (decided > 0 || wait != null)) {
        settled.add(new Verdict.Settled(share, decided, expected, wait));
      }
      if (decided < records.size() && wait == null) {
        fenced.add(share);
      }
    }
    return new Verdict(settled, fenced);
  }

  private Admission admitOne(
      PositionedShare share, ConsumerRecord<byte[], byte[]> record, RequestReader reader) {
    try {
      Admission admission = ledger.admit(Batch.of(List.of(share), reader).content());
      unstorableInARow = 0;
      return admission;
    } catch (LedgerException e) {
      if (!e.blamesContent() || unstorableInARow >= MAX_UNSTORABLE_IN_A_ROW) {
        throw e;
      }
      Admission admission = refuse(share, record, reader, e);
      unstorableInARow++;
      stats.isolatedRecord();
      return admission;
    }
  }

  /** Refuses a record that can't be stored, with its bytes if at least they can. */
  private Admission refuse(
      PositionedShare share,
      ConsumerRecord<byte[], byte[]> record,
      RequestReader reader,
      LedgerException failure) {
    LOG.error(
        "{} at offset {} can't be stored and is refused: {}",
        share.partition(),
        record.offset(),
        WireText.oneLine(failure));
    String reason = "record: the ledger can't store it (SQLSTATE " + failure.sqlState() + ")";
    List<PositionAdvance> positions = List.of(share.advance());
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

  private List<Verdict.Settled> settle(List<PositionedShare> shares, Admission.Decided decided) {
    List<Verdict.Settled> settled = new ArrayList<>(shares.size());
    int records = 0;
    for (int i = 0; i < shares.size(); i++) {
      Verdict.Settled one = settle(shares.get(i), i, decided.held());
      settled.add(one);
      records += one.records();
    }
    if (decided.decisions().size() != records) {
      throw new IllegalStateException(
          decided.decisions().size() + " decisions for " + records + " records");
    }
    decided.decisions().forEach(one -> stats.decided(one.decision().word()));
    stats.batch();
    return settled;
  }

  private static Verdict.Settled settle(
      PositionedShare share, int index, List<Admission.Decided.Held> held) {
    List<ConsumerRecord<byte[], byte[]>> records = share.share().records();
    for (Admission.Decided.Held one : held) {
      if (one.positionIndex() == index) {
        int decided = 0;
        while (records.get(decided).offset() < one.offset()) {
          decided++;
        }
        return new Verdict.Settled(
            share, decided, one.offset(), new Verdict.Wait(records.get(decided), one.full()));
      }
    }
    return new Verdict.Settled(share, records.size(), share.share().next(), null);
  }

  private static List<PositionedShare> sharesOf(
      List<PositionedShare> shares, Admission.Fenced fenced) {
    List<PartitionKey> keys = fenced.partitions();
    List<PositionedShare> lost =
        shares.stream().filter(share -> keys.contains(share.advance().partition())).toList();
    if (lost.isEmpty()) {
      throw new IllegalStateException("fenced, but no partition is named");
    }
    return lost;
  }
}
