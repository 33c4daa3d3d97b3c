package io.escapement.cli;

import io.escapement.bench.BenchRun;
import io.escapement.bench.Figures;
import io.escapement.bench.LatenessBench;
import io.escapement.config.Key.Group;
import picocli.CommandLine.Command;

/** How late claims come. */
@Command(
    name = "lateness",
    description = {
      "How long after its due time a task is claimed by one dispatcher process, at 500 and at 2000"
          + " due tasks a second that were accepted long before."
    })
final class LatenessBenchCommand extends BenchCommand {

  private final Amount seconds =
      amount("--seconds", 30, 2, "How long the due times are spread over.");
  private final Amount tenants = tenants();
  private final Amount payload = payload();

  LatenessBenchCommand() {
    super(Group.LEDGER, Group.KAFKA, Group.DISPATCHER);
  }

  @Override
  Figures measure(BenchRun run) {
    LatenessBench.Plan plan =
        new LatenessBench.Plan(
            repeats(),
            seconds.value(),
            warmUpSeconds(),
            tenants.value(),
            payload.value(),
            isQuick());
    return new LatenessBench(run, plan).run();
  }
}
