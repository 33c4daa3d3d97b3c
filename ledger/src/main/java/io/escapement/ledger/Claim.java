package io.escapement.ledger;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Claims due tasks. */
final class Claim {

  private final Statements statements;
  private final String claim = Statements.load("claim");
  private final String claimedBy = Statements.load("claimed_by");

  Claim(Statements statements) {
    this.statements = statements;
  }

  List<ClaimAnswer> apply(String owner, Collection<String> kinds, Collection<Long> tasks) {
    Map<Long, ClaimAnswer> answers = new HashMap<>();
    for (ClaimAnswer answer :
        statements.query(
            "claim",
            claim,
            p -> p.text(owner).array("text", kinds).array("int8", tasks),
            Claim::answer)) {
      answers.put(answer.task(), answer);
    }
    List<ClaimAnswer> inOrder = new ArrayList<>(tasks.size());
    for (Long task : tasks) {
      inOrder.add(answers.getOrDefault(task, new ClaimAnswer.NotClaimable(task)));
    }
    return inOrder;
  }

  List<ClaimedTask> claimedBy(String owner) {
    return statements.query("claimed_by", claimedBy, p -> p.text(owner), Claim::lease);
  }

  private static ClaimAnswer answer(ResultSet row) throws SQLException {
    long task = row.getLong("task_id");
    String answer = Statements.text(row, "answer");
    return switch (answer) {
      case "CLAIMED" -> new ClaimAnswer.Claimed(lease(row));
      case "NOT_DUE" -> new ClaimAnswer.NotDue(task, Statements.instant(row, "due_at"));
      case "SETTLED" ->
          new ClaimAnswer.Settled(task, TaskState.valueOf(Statements.text(row, "state")));
      case "NOT_CLAIMABLE" -> new ClaimAnswer.NotClaimable(task);
      default -> throw new LedgerException("claim: unknown answer '" + answer + "'");
    };
  }

  private static ClaimedTask lease(ResultSet row) throws SQLException {
    return new ClaimedTask(
        row.getLong("task_id"),
        row.getInt("attempt"),
        Statements.text(row, "tenant"),
        Statements.text(row, "kind"),
        Statements.text(row, "channel"),
        row.getInt("slot"),
        Duration.of(row.getLong("lease_micros"), ChronoUnit.MICROS),
        Statements.instant(row, "due_at"),
        Statements.instant(row, "claimed_at"),
        row.getInt("tries_left"),
        Statements.text(row, "idempotency_key"),
        Statements.text(row, "namespace"),
        Statements.text(row, "event_id"),
        row.getString("subject"),
        row.getString("content_type"),
        row.getBytes("value"));
  }
}
