package io.escapement.cli;

import io.escapement.assembly.Assembly;
import io.escapement.config.Config;
import io.escapement.config.Key.Group;
import io.escapement.doctor.Doctor;
import io.escapement.doctor.Finding;
import io.escapement.ledger.Role;
import java.util.List;
import picocli.CommandLine.Command;

/** Says what keeps the parts from working. */
@Command(
    name = "doctor",
    description = {
      "Checks everything that the parts need: the database, its schema and limits, Kafka's topics,"
          + " sizes that must fit together. Prints one line for each finding, with the cure.",
      "Exit code 1 if there is an error; warnings alone leave it 0."
    })
final class DoctorCommand extends ConfiguredCommand {

  DoctorCommand() {
    super(Group.LEDGER, Group.KAFKA, Group.TOPICS, Group.DISPATCHER);
  }

  @Override
  public Integer call() {
    Config config = config();
    List<Finding> findings =
        new Doctor(config).examineAll(() -> new Assembly(config).ledger(Role.READER));
    findings.forEach(finding -> say(finding.line()));
    long errors = findings.stream().filter(f -> f.severity() == Finding.Severity.ERROR).count();
    say(
        findings.isEmpty()
            ? "no findings"
            : "errors: " + errors + ", warnings: " + (findings.size() - errors));
    return errors == 0 ? DONE : FAILED;
  }
}
