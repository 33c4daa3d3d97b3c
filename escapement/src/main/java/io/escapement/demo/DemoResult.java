package io.escapement.demo;

import io.escapement.ledger.Decision;
import io.escapement.ledger.Lateness;
import io.escapement.ledger.LedgerCounts;
import io.escapement.ledger.TaskState;
import io.escapement.ledger.Violation;
import io.escapement.submit.Receipts;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What came of the demo.
 *
 * @param sent records
 * @param receipts how many of them have a receipt, and how many receipts there are
 * @param decisions by kind, "" for one that could not be read
 * @param bookingRows rows that a handler wrote to a table of its own
 * @param provider what the provider outside has counted
 */
public record DemoResult(
    int sent,
    Receipts.Tally receipts,
    Map<String, Map<Decision, Integer>> decisions,
    LedgerCounts counts,
    long bookingRows,
    DemoProvider.Counted provider,
    Lateness lateness,
    List<Violation> violations) {

  /** Tasks that were promised: one for each accepted record. */
  public int accepted() {
    return decisions.values().stream()
        .mapToInt(ofKind -> ofKind.getOrDefault(Decision.ACCEPTED, 0))
        .sum();
  }

  /** The promises that were not kept; empty is the good answer. */
  public List<String> broken() {
    List<String> broken = new ArrayList<>();
    expect(broken, "records with a receipt", sent, receipts.records());
    expect(broken, "receipts", sent, receipts.receipts());
    expect(broken, "intents", accepted(), counts.intents());
    expect(broken, "tasks done", accepted(), counts.in(TaskState.DONE));
    int webhooks = accepted(DemoProvider.KIND);
    expect(broken, "effects", accepted() - webhooks, counts.effects());
    expect(broken, "rows of " + BookingHandler.TABLE, accepted(BookingHandler.KIND), bookingRows);
    expect(broken, "messages that the provider took", webhooks, provider.delivered());
    violations.forEach(found -> broken.add(found.invariant() + ": " + found.detail()));
    return broken;
  }

  private int accepted(String kind) {
    return decisions.getOrDefault(kind, Map.of()).getOrDefault(Decision.ACCEPTED, 0);
  }

  private static void expect(List<String> broken, String what, long expected, long found) {
    if (expected != found) {
      broken.add(what + ": " + found + ", expected " + expected);
    }
  }
}
