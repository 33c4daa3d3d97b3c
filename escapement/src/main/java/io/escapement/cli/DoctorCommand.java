package io.escapement.cli;

import io.escapement.assembly.Assembly;
import io.escapement.config.Config;
import io.escapement.config.Key.Group;
import io.escapement.doctor.Doctor;
import io.escapement.doctor.Finding;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.Role;
import java.util.List;
import picocli.CommandLine.Command;

/** Says what keeps the parts from working. */
@Command(
    name = "doctor",
    description = {
      "Checks the topics against the ledger and prints one line for each finding, with the cure.",
      "Exit code 1 if there is an error; warnings alone leave it 0."
    })
final class DoctorCommand extends ConfiguredCommand {

  DoctorCommand() {
    super(Group.LEDGER, Group.KAFKA, Group.TOPICS, Group.DISPATCHER);
  }

  @Override
  public Integer call() {
    Config config = config();
    try (Ledger ledger = new Assembly(config).ledger(Role.READER)) {
      List<Finding> findings = new Doctor(config).examine(ledger);
      findings.forEach(finding -> say(finding.line()));
      long errors = findings.stream().filter(f -> f.severity() == Finding.Severity.ERROR).count();
      say(
          findings.isEmpty()
              ? "no findings"
              : "errors: " + errors + ", warnings: " + (findings.size() - errors));
      return errors == 0 ? DONE : FAILED;
    }
  }
}
