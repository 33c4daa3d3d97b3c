package io.escapement.cli;

import io.escapement.bench.BenchServers;
import io.escapement.bench.Figures;
import io.escapement.bench.PipelineBench;
import io.escapement.bench.Stop;
import io.escapement.config.Key.Group;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The way through all parts. */
@Command(
    name = "pipeline",
    description = {
      "Tasks a second from the requests topic to the outcome, and the time from produce to outcome"
          + " at an even rate; ingest, relay and dispatcher run as a process each."
    })
final class PipelineBenchCommand extends BenchCommand {
  @Option(
      names = "--tasks",
      paramLabel = "N",
      description = "Immediate tasks whose rate is measured. Default: 50000")
  private @Nullable Integer tasks;

  @Option(names = "--warm-up", paramLabel = "N", description = "Tasks before that. Default: 20000")
  private @Nullable Integer warmUp;

  @Option(
      names = "--rate",
      paramLabel = "N",
      defaultValue = "200",
      description = "Tasks a second for the latencies. Default: ${DEFAULT-VALUE}")
  private int rate;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      description = "How long latencies are measured. Default: 30")
  private @Nullable Integer seconds;

  @Option(
      names = "--tenants",
      paramLabel = "N",
      defaultValue = "10",
      description = "Tenants that share the tasks. Default: ${DEFAULT-VALUE}")
  private int tenants;

  @Option(
      names = "--payload",
      paramLabel = "BYTES",
      defaultValue = "200",
      description = "Size of each record's value. Default: ${DEFAULT-VALUE}")
  private int valueBytes;

  PipelineBenchCommand() {
    super(Group.LEDGER, Group.KAFKA, Group.INGEST, Group.RELAY, Group.DISPATCHER);
  }

  @Override
  Figures measure(BenchServers servers, Stop stop) {
    PipelineBench.Plan plan =
        new PipelineBench.Plan(
            repeats(),
            atLeast(1, "--tasks", sized(tasks, 50_000, 500)),
            atLeast(1, "--warm-up", sized(warmUp, 20_000, 100)),
            atLeast(1, "--rate", rate),
            atLeast(1, "--seconds", sized(seconds, 30, 2)),
            warmUpSeconds(),
            atLeast(1, "--tenants", tenants),
            atLeast(1, "--payload", valueBytes));
    return new PipelineBench(servers, plan, stop, this::say).run();
  }
}
