package io.escapement.ingest;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * What this process has decided since it started.
 *
 * <p>Thread rule: any thread. A snapshot is not one moment: counters are read one after the other.
 */
public final class IngestStats {

  private final Map<String, LongAdder> decisions = new ConcurrentHashMap<>();
  private final LongAdder batches = new LongAdder();
  private final LongAdder fences = new LongAdder();
  private final LongAdder failures = new LongAdder();
  private final LongAdder isolated = new LongAdder();

  IngestStats() {}

  /**
   * The counters at about one moment.
   *
   * @param decisions by their words in the receipts, those that were made at all
   * @param batches committed transactions
   * @param fences partitions whose records were dropped because another owner had moved on
   * @param failures of Kafka or the ledger that were survived
   * @param isolated records that the ledger could not store and that were refused alone
   */
  public record Snapshot(
      Map<String, Long> decisions, long batches, long fences, long failures, long isolated) {
    public Snapshot {
      decisions = Map.copyOf(decisions);
    }

    /** All decisions. */
    public long decided() {
      return decisions.values().stream().mapToLong(Long::longValue).sum();
    }
  }

  /** Reads the counters. */
  public Snapshot snapshot() {
    Map<String, Long> counts = new TreeMap<>();
    decisions.forEach((decision, count) -> counts.put(decision, count.sum()));
    return new Snapshot(counts, batches.sum(), fences.sum(), failures.sum(), isolated.sum());
  }

  void decided(String decision) {
    decisions.computeIfAbsent(decision, word -> new LongAdder()).increment();
  }

  void batch() {
    batches.increment();
  }

  void fenced(int partitions) {
    fences.add(partitions);
  }

  void failure() {
    failures.increment();
  }

  void isolatedRecord() {
    isolated.increment();
  }
}
