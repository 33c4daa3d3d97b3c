package io.escapement.ingest;

import io.escapement.ledger.CommandDecision;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * What this process has decided of commands since it started.
 *
 * <p>Thread rule: any thread reads; the loop's thread writes.
 */
public final class CommandStats {

  private final Map<CommandDecision, LongAdder> decisions = new EnumMap<>(CommandDecision.class);
  private final LongAdder fences = new LongAdder();
  private final LongAdder failures = new LongAdder();

  CommandStats() {
    for (CommandDecision decision : CommandDecision.values()) {
      decisions.put(decision, new LongAdder());
    }
  }

  /**
   * The counters at about one moment.
   *
   * @param decisions by kind; every kind is there
   * @param fences records that were dropped because another owner had moved on
   * @param failures of Kafka or the ledger that were survived
   */
  public record Snapshot(Map<CommandDecision, Long> decisions, long fences, long failures) {
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
    Map<CommandDecision, Long> counts = new EnumMap<>(CommandDecision.class);
    decisions.forEach((decision, count) -> counts.put(decision, count.sum()));
    return new Snapshot(counts, fences.sum(), failures.sum());
  }

  void decided(CommandDecision decision) {
    decisions.computeIfAbsent(decision, d -> new LongAdder()).increment();
  }

  void fenced() {
    fences.increment();
  }

  void failure() {
    failures.increment();
  }
}
