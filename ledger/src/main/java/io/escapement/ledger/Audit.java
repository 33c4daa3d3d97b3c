package io.escapement.ledger;

import java.util.List;

/** Asks the ledger whether its rows contradict its invariants. */
final class Audit {

  private final Statements statements;
  private final String sql = Statements.load("audit");

  Audit(Statements statements) {
    this.statements = statements;
  }

  List<Violation> apply() {
    return statements.query(
        "audit",
        sql,
        p -> {},
        row -> new Violation(Statements.text(row, "invariant"), Statements.text(row, "detail")));
  }
}
