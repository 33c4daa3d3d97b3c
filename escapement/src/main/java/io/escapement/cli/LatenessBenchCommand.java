package io.escapement.cli;

import io.escapement.bench.BenchServers;
import io.escapement.bench.Figures;
import io.escapement.bench.LatenessBench;
import io.escapement.bench.Stop;
import io.escapement.config.Key.Group;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** How late claims come. */
@Command(
    name = "lateness",
    description = {
      "How long after its due time a task is claimed by one dispatcher process, at 500 and at 2000"
          + " due tasks a second that were accepted long before."
    })
final class LatenessBenchCommand extends BenchCommand {
  @Option(
      names = "--seconds",
      paramLabel = "N",
      description = "How long the due times are spread over. Default: 30")
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
      description = "Size of each task's value. Default: ${DEFAULT-VALUE}")
  private int valueBytes;

  LatenessBenchCommand() {
    super(Group.LEDGER, Group.KAFKA, Group.DISPATCHER);
  }

  @Override
  Figures measure(BenchServers servers, Stop stop) {
    LatenessBench.Plan plan =
        new LatenessBench.Plan(
            repeats(),
            atLeast(1, "--seconds", sized(seconds, 30, 2)),
            warmUpSeconds(),
            atLeast(1, "--tenants", tenants),
            atLeast(1, "--payload", valueBytes),
            isQuick());
    return new LatenessBench(servers, plan, stop, this::say).run();
  }
}
