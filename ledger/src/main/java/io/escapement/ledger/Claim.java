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
import org.jspecify.annotations.Nullable;

/** Claims due tasks. */
final class Claim {

  private final Statements statements;
  private final String claim = Statements.load("claim");
  private final String claimDue = Statements.load("claim_due");
  private final String claimedBy = Statements.load("claimed_by");

  Claim(Statements statements) {
    this.statements = statements;
  }

  List<ClaimAnswer> apply(String owner, WorkFilter work, Collection<Long> tasks) {
    Map<Long, ClaimAnswer> answers = new HashMap<>();
    for (ClaimAnswer answer :
        statements.query(
            "claim",
            claim,
            p ->
                p.text(name(owner))
                    .optionalArray("text", work.kinds())
                    .array("int8", tasks)
                    .optionalArray("text", work.channels()),
            Claim::answer)) {
      answers.put(answer.task(), answer);
    }
    List<ClaimAnswer> inOrder = new ArrayList<>(tasks.size());
    for (Long task : tasks) {
      inOrder.add(answers.getOrDefault(task, new ClaimAnswer.NotClaimable(task)));
    }
    return inOrder;
  }

  List<ClaimAnswer> due(
      String owner, String queue, Collection<Integer> slots, WorkFilter work, int limit) {
    return statements.query(
        "claim_due",
        claimDue,
        p ->
            p.text(name(owner))
                .text(queue)
                .array("int4", slots)
                .optionalArray("text", work.kinds())
                .integer(limit)
                .optionalArray("text", work.channels()),
        Claim::answer);
  }

  List<ClaimedTask> claimedBy(String owner) {
    return statements.query("claimed_by", claimedBy, p -> p.text(name(owner)), Claim::lease);
  }

  /** Storable, but not cut: what tells one claim from the next may be at its end. */
  private static @Nullable String name(String owner) {
    return Texts.storable(owner, Integer.MAX_VALUE);
  }

  private static ClaimAnswer answer(ResultSet row) throws SQLException {
    long task = row.getLong("task_id");
    String answer = Statements.text(row, "answer");
    return switch (answer) {
      case "CLAIMED" -> new ClaimAnswer.Claimed(lease(row));
      case "NOT_DUE" -> new ClaimAnswer.NotDue(task, Statements.instant(row, "due_at"));
      case "SETTLED" ->
          new ClaimAnswer.Settled(task, TaskState.valueOf(Statements.text(row, "state")));
      case "PAUSED" -> new ClaimAnswer.Paused(task);
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
        ClaimedTask.Action.valueOf(Statements.text(row, "action")),
        row.getBoolean("uncertain"),
        row.getString("address"),
        Duration.of(row.getLong("lease_micros"), ChronoUnit.MICROS),
        optionalMicros(row, "timeout_micros"),
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

  private static @Nullable Duration optionalMicros(ResultSet row, String column)
      throws SQLException {
    long micros = row.getLong(column);
    return row.wasNull() ? null : Duration.of(micros, ChronoUnit.MICROS);
  }
}
