package io.escapement.demo;

import io.escapement.ledger.Decision;
import io.escapement.ledger.LedgerCounts;
import io.escapement.ledger.TaskState;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;

/**
 * Where the demo stands.
 *
 * @param elapsed since the first record was sent
 * @param sent records in Kafka
 * @param decisions receipts so far
 */
public record DemoProgress(
    Duration elapsed, int sent, Map<Decision, Integer> decisions, LedgerCounts counts) {

  /** One line, what changes fastest first: a narrow terminal cuts the end. */
  public String line() {
    StringBuilder line = new StringBuilder();
    line.append(
        String.format(
            Locale.ROOT,
            "%4.1f s  waiting %d  running %d  done %d  |  accepted %d",
            elapsed.toMillis() / 1000.0,
            waiting(),
            counts.in(TaskState.CLAIMED),
            counts.in(TaskState.DONE),
            decisions.getOrDefault(Decision.ACCEPTED, 0)));
    for (Decision decision : Decision.values()) {
      int count = decisions.getOrDefault(decision, 0);
      if (decision != Decision.ACCEPTED && count > 0) {
        line.append("  ").append(decision.word()).append(' ').append(count);
      }
    }
    return line.append("  of ").append(sent).append(" sent").toString();
  }

  /** Whether every record is decided and nothing is left to do. */
  boolean isOver() {
    int decided = decisions.values().stream().mapToInt(n -> n).sum();
    return sent > 0 && decided >= sent && waiting() + counts.in(TaskState.CLAIMED) == 0;
  }

  private long waiting() {
    return counts.in(TaskState.SCHEDULED) + counts.in(TaskState.UNKNOWN);
  }
}
