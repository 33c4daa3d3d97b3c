package io.escapement.ledger;

import java.util.List;

/** Cancels what an identity promised. */
final class Cancel {

  private final Statements statements;
  private final String sql = Statements.load("cancel");

  Cancel(Statements statements) {
    this.statements = statements;
  }

  List<CancelAnswer> apply(String namespace, String id, boolean unstartedOnly, String reason) {
    return statements.query(
        "cancel",
        sql,
        p ->
            p.text(namespace)
                .text(id)
                .text(Texts.storable(reason, Limits.DETAIL_BYTES))
                .flag(unstartedOnly),
        row ->
            new CancelAnswer(
                row.getLong("task_id"),
                CancelAnswer.Result.valueOf(Statements.text(row, "result"))));
  }
}
