package io.escapement.ledger;

import java.util.Collection;
import java.util.List;

/** Ends leases and tasks whose time is over, and forgets what has ended long ago. */
final class Reclaim {

  private final Statements statements;
  private final String reclaim = Statements.load("reclaim");
  private final String fold = Statements.load("fold");
  private final String forget = Statements.load("forget");

  Reclaim(Statements statements) {
    this.statements = statements;
  }

  List<Horizon.Entry> apply(String queue, Collection<Integer> slots, int limit) {
    return statements.query(
        "reclaim",
        reclaim,
        p -> p.text(queue).array("int4", slots).integer(limit),
        row ->
            new Horizon.Entry(
                row.getLong("task_id"),
                Statements.text(row, "tenant"),
                row.getInt("slot"),
                Statements.instant(row, "due_at"),
                false));
  }

  boolean fold() {
    return statements.one("fold", fold, p -> {}, row -> row.getBoolean(1));
  }

  Forgotten forget(int limit) {
    return statements.one(
        "forget",
        forget,
        p -> p.integer(limit),
        row ->
            new Forgotten(row.getLong("intents"), row.getLong("tasks"), row.getBoolean("at_end")));
  }
}
