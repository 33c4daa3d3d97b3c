package io.escapement.cli;

import io.escapement.bench.BenchRun;
import io.escapement.bench.Figures;
import io.escapement.bench.PipelineBench;
import io.escapement.config.Key.Group;
import picocli.CommandLine.Command;

/** The way through all parts. */
@Command(
    name = "pipeline",
    description = {
      "Tasks a second from the requests topic to the outcome, and the time from produce to outcome"
          + " at an even rate; ingest, relay and dispatcher run as a process each."
    })
final class PipelineBenchCommand extends BenchCommand {

  private final Amount tasks =
      amount("--tasks", 50_000, 500, "Immediate tasks whose rate is measured.");
  private final Amount warmUp = amount("--warm-up", 20_000, 100, "Tasks before that.");
  private final Amount rate = amount("--rate", 200, 200, "Tasks a second for the latencies.");
  private final Amount seconds = amount("--seconds", 30, 2, "How long latencies are measured.");
  private final Amount tenants = tenants();
  private final Amount payload = payload();

  PipelineBenchCommand() {
    super(Group.LEDGER, Group.KAFKA, Group.INGEST, Group.RELAY, Group.DISPATCHER);
  }

  @Override
  Figures measure(BenchRun run) {
    PipelineBench.Plan plan =
        new PipelineBench.Plan(
            repeats(),
            tasks.value(),
            warmUp.value(),
            rate.value(),
            seconds.value(),
            warmUpSeconds(),
            tenants.value(),
            payload.value());
    return new PipelineBench(run, plan).run();
  }
}
