package io.escapement.cli;

import io.escapement.bench.BenchServers;
import io.escapement.bench.DiscoveryBench;
import io.escapement.bench.Figures;
import io.escapement.bench.IdleBench;
import io.escapement.bench.LatenessBench;
import io.escapement.bench.Stop;
import io.escapement.config.Key.Group;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The ways of finding due work, side by side. */
@Command(
    name = "discovery",
    description = {
      "The timing wheel beside polling every second, 100 ms and 10 ms: how late claims come, and what"
          + " a dispatcher asks the database for while nothing is due."
    })
final class DiscoveryBenchCommand extends BenchCommand {

  private static final int TENANTS = 10;
  private static final int VALUE_BYTES = 200;

  @Option(
      names = "--rate",
      paramLabel = "N",
      defaultValue = "500",
      description = "Due tasks a second while lateness is measured. Default: ${DEFAULT-VALUE}")
  private int rate;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      description = "How long their due times are spread over. Default: 30")
  private @Nullable Integer seconds;

  @Option(
      names = "--idle-seconds",
      paramLabel = "N",
      description = "How long the idle dispatcher is watched. Default: 30")
  private @Nullable Integer idleSeconds;

  DiscoveryBenchCommand() {
    super(Group.LEDGER, Group.KAFKA, Group.DISPATCHER);
  }

  @Override
  Map<String, String> serverSettings() {
    return IdleBench.SERVER_SETTINGS;
  }

  @Override
  Figures measure(BenchServers servers, Stop stop) {
    LatenessBench lateness =
        new LatenessBench(
            servers,
            new LatenessBench.Plan(
                1,
                atLeast(1, "--seconds", sized(seconds, 30, 2)),
                warmUpSeconds(),
                TENANTS,
                VALUE_BYTES,
                isQuick()),
            stop,
            this::say);
    IdleBench idle =
        new IdleBench(
            servers,
            new IdleBench.Plan(
                1,
                atLeast(
                    1, "--idle-seconds", sized(idleSeconds, 30, IdleBenchCommand.QUICK_SECONDS)),
                sized(null, IdleBenchCommand.CALM_SECONDS, 1),
                sized(null, 10_000, 1_000),
                TENANTS,
                VALUE_BYTES),
            stop,
            this::say);
    return new DiscoveryBench(
            new DiscoveryBench.Plan(repeats(), atLeast(1, "--rate", rate)),
            lateness,
            idle,
            this::say)
        .run();
  }
}
