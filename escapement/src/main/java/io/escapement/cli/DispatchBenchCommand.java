package io.escapement.cli;

import io.escapement.bench.BenchServers;
import io.escapement.bench.DispatchBench;
import io.escapement.bench.Figures;
import io.escapement.bench.Stop;
import io.escapement.config.Key.Group;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The dispatcher beside a bare loop. */
@Command(
    name = "dispatch",
    description = {
      "Due tasks a second that one dispatcher process ends whose handler only answers, beside the"
          + " same tasks claimed and ended by a bare JDBC loop without any protocol."
    })
final class DispatchBenchCommand extends BenchCommand {
  @Option(
      names = "--tasks",
      paramLabel = "N",
      description = "Tasks that are due when a case begins. Default: 100000")
  private @Nullable Integer tasks;

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
      description = "Size of each task's value. Default: ${DEFAULT-VALUE}")
  private int valueBytes;

  DispatchBenchCommand() {
    super(Group.LEDGER, Group.KAFKA, Group.DISPATCHER);
  }

  @Override
  Figures measure(BenchServers servers, Stop stop) {
    DispatchBench.Plan plan =
        new DispatchBench.Plan(
            repeats(),
            atLeast(1, "--tasks", sized(tasks, 100_000, 2_000)),
            atLeast(1, "--tenants", tenants),
            atLeast(1, "--payload", valueBytes));
    return new DispatchBench(servers, plan, stop, this::say).run();
  }
}
