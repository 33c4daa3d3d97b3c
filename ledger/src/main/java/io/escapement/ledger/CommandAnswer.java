package io.escapement.ledger;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What became of one record of the commands topic. */
public sealed interface CommandAnswer {

  /**
   * Committed; the receipt is in the outbox.
   *
   * @param reason why it was refused; null if it was not
   * @param results in the order in which things were done; none where it was refused
   */
  record Decided(CommandDecision decision, @Nullable String reason, List<CommandResult> results)
      implements CommandAnswer {
    public Decided {
      results = List.copyOf(results);
    }
  }

  /** Committed: there was no record, only the position has moved. */
  record Passed() implements CommandAnswer {}

  /** Nothing was done: the partition has another owner now. Read its position again. */
  record Fenced() implements CommandAnswer {}
}
