package io.escapement.cli;

import io.escapement.bench.BenchRun;
import io.escapement.bench.DispatchBench;
import io.escapement.bench.Figures;
import io.escapement.config.Key.Group;
import picocli.CommandLine.Command;

/** The dispatcher beside a bare loop. */
@Command(
    name = "dispatch",
    description = {
      "Due tasks a second that one dispatcher process ends whose handler only answers, beside the"
          + " same tasks claimed and ended by a bare JDBC loop without any protocol."
    })
final class DispatchBenchCommand extends BenchCommand {

  private final Amount tasks =
      amount("--tasks", 100_000, 2_000, "Tasks that are due when a case begins.");
  private final Amount tenants = tenants();
  private final Amount payload = payload();

  DispatchBenchCommand() {
    super(Group.LEDGER, Group.KAFKA, Group.DISPATCHER);
  }

  @Override
  Figures measure(BenchRun run) {
    DispatchBench.Plan plan =
        new DispatchBench.Plan(repeats(), tasks.value(), tenants.value(), payload.value());
    return new DispatchBench(run, plan).run();
  }
}
