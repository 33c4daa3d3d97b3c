package io.escapement.ingest;

import io.escapement.ledger.Decision;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * What this process has decided since it started.
 *
 * <p>Thread rule: any thread reads; the loop's thread writes. A snapshot is not one moment:
 * counters are read one after the other.
 */
public final class IngestStats {

  private final Map<Decision, LongAdder> decisions = new EnumMap<>(Decision.class);
  private final LongAdder batches = new LongAdder();
  private final LongAdder fences = new LongAdder();
  private final LongAdder failures = new LongAdder();
  private final LongAdder isolated = new LongAdder();

  IngestStats() {
    for (Decision decision : Decision.values()) {
      decisions.put(decision, new LongAdder());
    }
  }

  /**
   * The counters at about one moment.
   *
   * @param decisions by kind; every kind is there
   * @param batches committed admissions
   * @param fences partitions whose records were dropped because another owner had moved on
   * @param failures of Kafka or the ledger that were survived
   * @param isolated records that the ledger could not store and that were refused alone
   */
  public record Snapshot(
      Map<Decision, Long> decisions, long batches, long fences, long failures, long isolated) {
    public Snapshot {
      decisions = Collections.unmodifiableMap(new EnumMap<>(decisions));
    }

    /** All decisions. */
    public long decided() {
      return decisions.values().stream().mapToLong(Long::longValue).sum();
    }
  }

  /** Reads the counters. */
  public Snapshot snapshot() {
    Map<Decision, Long> counts = new EnumMap<>(Decision.class);
    decisions.forEach((decision, count) -> counts.put(decision, count.sum()));
    return new Snapshot(counts, batches.sum(), fences.sum(), failures.sum(), isolated.sum());
  }

  void decided(Decision decision) {
    decisions.computeIfAbsent(decision, d -> new LongAdder()).increment();
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
