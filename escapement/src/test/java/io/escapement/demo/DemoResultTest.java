package io.escapement.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.ledger.Decision;
import io.escapement.ledger.Lateness;
import io.escapement.ledger.LedgerCounts;
import io.escapement.ledger.TaskState;
import io.escapement.ledger.Violation;
import io.escapement.submit.Receipts;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The demo's verdict must be able to be bad. */
class DemoResultTest {

  private static final Map<String, Map<Decision, Integer>> DECISIONS =
      Map.of(
          BookingHandler.KIND,
          Map.of(Decision.ACCEPTED, 2),
          InvoiceHandler.KIND,
          Map.of(Decision.ACCEPTED, 3, Decision.REPLAY, 1),
          "",
          Map.of(Decision.INVALID, 4));

  @Test
  void keptPromisesAreNotBroken() {
    assertThat(result(10, 10, 5, 5, 2, List.of()).broken()).isEmpty();
  }

  @Test
  void eachBrokenPromiseIsNamed() {
    assertThat(result(9, 9, 5, 5, 2, List.of()).broken())
        .containsExactly("records with a receipt: 9, expected 10", "receipts: 9, expected 10");
    assertThat(result(10, 11, 5, 5, 2, List.of()).broken())
        .containsExactly("receipts: 11, expected 10");
    assertThat(result(10, 10, 4, 5, 2, List.of()).broken())
        .containsExactly("tasks done: 4, expected 5");
    assertThat(result(10, 10, 5, 6, 2, List.of()).broken())
        .containsExactly("effects: 6, expected 5");
    assertThat(result(10, 10, 5, 5, 3, List.of()).broken())
        .containsExactly("rows of demo.closed_booking: 3, expected 2");
    assertThat(result(10, 10, 5, 5, 2, List.of(new Violation("I3", "off by one"))).broken())
        .containsExactly("I3: off by one");
  }

  @Test
  void whatTheProviderTookMustBeWhatWasPromisedToIt() {
    Map<String, Map<Decision, Integer>> webhooks =
        Map.of("demo.webhook.send", Map.of(Decision.ACCEPTED, 5));
    DemoResult lost = result(webhooks, 10, 10, 5, 0, 0, List.of(), 4);
    assertThat(lost.broken()).containsExactly("messages that the provider took: 4, expected 5");
    assertThat(result(webhooks, 10, 10, 5, 0, 0, List.of(), 5).broken()).isEmpty();
  }

  private static DemoResult result(
      int records, int receipts, long done, long effects, long rows, List<Violation> violations) {
    return result(DECISIONS, records, receipts, done, effects, rows, violations, 0);
  }

  private static DemoResult result(
      Map<String, Map<Decision, Integer>> decisions,
      int records,
      int receipts,
      long done,
      long effects,
      long rows,
      List<Violation> violations,
      int delivered) {
    return new DemoResult(
        10,
        new Receipts.Tally(records, receipts),
        decisions,
        new LedgerCounts(Map.of(TaskState.DONE, done), 5, effects, 0),
        rows,
        new DemoProvider.Counted(delivered, delivered),
        new Lateness(0, 0, 0, 0),
        violations);
  }
}
