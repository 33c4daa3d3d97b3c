package io.escapement.cli;

import io.escapement.assembly.Assembly;
import io.escapement.config.Key.Group;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.Role;
import io.escapement.ledger.Violation;
import java.util.List;
import picocli.CommandLine.Command;

/** Checks the ledger's rows against its invariants. */
@Command(
    name = "audit",
    description = {
      "Checks every row of the ledger against its invariants and prints what contradicts them.",
      "Exit code 1 if anything does.."
    })
final class AuditCommand extends ConfiguredCommand {

  AuditCommand() {
    super(Group.LEDGER);
  }

  @Override
  public Integer call() {
    try (Ledger ledger = new Assembly(config()).ledger(Role.READER)) {
      List<Violation> violations = ledger.audit();
      violations.forEach(found -> say(found.invariant() + ": " + found.detail()));
      say(violations.isEmpty() ? "audit: nothing found" : "audit: found " + violations.size());
      return violations.isEmpty() ? DONE : FAILED;
    }
  }
}
