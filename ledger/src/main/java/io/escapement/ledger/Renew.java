package io.escapement.ledger;

import java.util.ArrayList;
import java.util.List;

/** Renews leases. */
final class Renew {

  private final Statements statements;
  private final String sql = Statements.load("renew");

  Renew(Statements statements) {
    this.statements = statements;
  }

  List<RenewAnswer> apply(List<LeaseKey> leases) {
    List<String> rows =
        statements.query(
            "renew",
            sql,
            p ->
                p.array("int8", leases.stream().map(LeaseKey::task).toList())
                    .array("int4", leases.stream().map(LeaseKey::attempt).toList()),
            row -> Statements.text(row, "answer"));
    List<RenewAnswer> answers = new ArrayList<>(rows.size());
    for (int i = 0; i < rows.size(); i++) {
      answers.add(answer(leases.get(i), rows.get(i)));
    }
    return answers;
  }

  private static RenewAnswer answer(LeaseKey lease, String answer) {
    return switch (answer) {
      case "RENEWED" -> new RenewAnswer.Renewed(lease.task(), lease.attempt());
      case "CANCEL_REQUESTED" -> new RenewAnswer.CancelRequested(lease.task(), lease.attempt());
      case "BUSY" -> new RenewAnswer.Busy(lease.task(), lease.attempt());
      case "LOST" -> new RenewAnswer.Lost(lease.task(), lease.attempt());
      default -> throw new LedgerException("renew: unknown answer '" + answer + "'");
    };
  }
}
