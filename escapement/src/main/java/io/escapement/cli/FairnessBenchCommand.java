package io.escapement.cli;

import io.escapement.bench.BenchRun;
import io.escapement.bench.FairnessBench;
import io.escapement.bench.Figures;
import io.escapement.config.Key.Group;
import picocli.CommandLine.Command;

/** One tenant's tasks beside another one's backlog. */
@Command(
    name = "fairness",
    description = {
      "How late one dispatcher process claims the tasks that a tenant sends evenly, alone and"
          + " beside another tenant's backlog; both have the same weight."
    })
final class FairnessBenchCommand extends BenchCommand {

  private final Amount backlog =
      amount("--backlog", 100_000, 2_000, "Due tasks of the one tenant.");
  private final Amount rate = amount("--rate", 10, 10, "Tasks a second of the other.");
  private final Amount seconds = amount("--seconds", 30, 2, "How long their lateness is measured.");
  private final Amount handlerMillis =
      amount(
              "--handler-ms",
              0,
              0,
              "How long a task of the backlog takes; 0 for as long as the backlog must last.")
          .atLeast(0);
  private final Amount payload = payload();

  FairnessBenchCommand() {
    super(Group.LEDGER, Group.KAFKA, Group.RELAY, Group.DISPATCHER);
  }

  @Override
  Figures measure(BenchRun run) {
    FairnessBench.Plan plan =
        new FairnessBench.Plan(
            repeats(),
            backlog.value(),
            rate.value(),
            seconds.value(),
            warmUpSeconds(),
            handlerMillis.value(),
            payload.value());
    return new FairnessBench(run, plan).run();
  }
}
