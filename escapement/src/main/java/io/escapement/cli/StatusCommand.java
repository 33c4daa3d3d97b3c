package io.escapement.cli;

import io.escapement.assembly.Assembly;
import io.escapement.config.Key.Group;
import io.escapement.ledger.Lateness;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.LedgerCounts;
import io.escapement.ledger.RelayLag;
import io.escapement.ledger.Role;
import io.escapement.ledger.Status;
import io.escapement.ledger.TaskState;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;

/** Shows the backlog and the budgets. */
@Command(
    name = "status",
    description =
        "Shows what waits and runs, how late claims came, and what is left of the budgets.")
final class StatusCommand extends ConfiguredCommand {

  StatusCommand() {
    super(Group.LEDGER);
  }

  @Override
  public Integer call() {
    try (Ledger ledger = new Assembly(config()).ledger(Role.READER)) {
      Status status = ledger.status();
      say("ledger at " + status.readAt() + " by the database's clock", "");
      say(backlog(status).lines().toArray(String[]::new));
      if (status.needsReview() > 0) {
        say(
            "",
            "parked, a person must look (table escapement.needs_review): " + status.needsReview());
      }
      if (!status.paused().isEmpty()) {
        say("", "paused: " + String.join(", ", status.paused()));
      }
      for (Status.Held held : status.held()) {
        say(
            "",
            "held: %s-%d waits at offset %d for room (%s) since %s"
                .formatted(
                    held.topic(),
                    held.partition(),
                    held.position(),
                    held.full().word(),
                    held.since()));
      }
      say("", "tasks so far: " + totals(ledger.counts()));
      say("lateness: " + lateness(ledger.lateness()), "");
      say(budgets(status).lines().toArray(String[]::new));
      say("", "outbox rows kept: " + status.outboxRows());
      say("relay: " + relay(ledger.relayLag()));
    }
    return DONE;
  }

  private static Table backlog(Status status) {
    Table table = new Table("queue", "state", "tasks", "due", "oldest due");
    for (Status.Backlog row : status.backlog()) {
      table.row(
          row.queue(),
          row.state().name().toLowerCase(Locale.ROOT),
          row.tasks(),
          row.due(),
          row.oldestDueAt() == null
              ? "-"
              : age(Duration.between(row.oldestDueAt(), status.readAt())));
    }
    return status.backlog().isEmpty() ? table.row("nothing outstanding", "", "", "", "") : table;
  }

  private static Table budgets(Status status) {
    Table table = new Table("budget", "tasks", "of", "bytes", "of");
    for (Status.Budget budget : status.budgets()) {
      table.row(
          budget.tenant() == null ? "(whole ledger)" : budget.tenant(),
          budget.usedTasks(),
          budget.maxTasks(),
          budget.usedBytes(),
          budget.maxBytes());
    }
    return table;
  }

  private static String totals(LedgerCounts counts) {
    return Arrays.stream(TaskState.values())
        .filter(state -> counts.in(state) > 0)
        .map(state -> state.name().toLowerCase(Locale.ROOT) + " " + counts.in(state))
        .collect(Collectors.joining(", "))
        .transform(text -> text.isEmpty() ? "none" : text);
  }

  /** How far the relay is behind, for people. */
  static String relay(List<RelayLag> lags) {
    return lags.isEmpty()
        ? "nothing has been relayed yet; start one with: escapement relay"
        : lags.stream()
            .map(
                lag ->
                    String.format(
                        Locale.ROOT,
                        "slot %s %s, %d kB of log behind, %d kB kept for it%s",
                        lag.slot(),
                        lag.active() ? "streams" : "waits for a relay",
                        lag.lagBytes() / 1024,
                        lag.retainedBytes() / 1024,
                        "lost".equals(lag.walStatus()) ? ", LOST" : ""))
            .collect(Collectors.joining("; "));
  }

  /** How late claims came, for people. */
  static String lateness(Lateness lateness) {
    return lateness.claims() == 0
        ? "no claim yet"
        : String.format(
            Locale.ROOT,
            "p50 %.0f ms, p99 %.0f ms, max %.0f ms over %d claims",
            lateness.p50Millis(),
            lateness.p99Millis(),
            lateness.maxMillis(),
            lateness.claims());
  }

  private static String age(Duration age) {
    return age.isNegative() ? "in " + age.negated().toSeconds() + " s" : age.toSeconds() + " s ago";
  }
}
