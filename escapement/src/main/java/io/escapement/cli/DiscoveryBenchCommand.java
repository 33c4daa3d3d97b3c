package io.escapement.cli;

import io.escapement.bench.BenchRun;
import io.escapement.bench.DiscoveryBench;
import io.escapement.bench.Figures;
import io.escapement.bench.IdleBench;
import io.escapement.bench.LatenessBench;
import io.escapement.config.Key.Group;
import java.util.List;
import java.util.Map;
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

  private final Amount rate =
      amount("--rate", 500, 500, "Due tasks a second while lateness is measured.");
  private final Amount seconds =
      amount("--seconds", 30, 2, "How long their due times are spread over.");
  private final Amount idleSeconds =
      amount(
          "--idle-seconds",
          30,
          IdleBenchCommand.QUICK_SECONDS,
          "How long the idle dispatcher is watched.");

  @Option(
      names = "--poll-every",
      paramLabel = "TIME",
      split = ",",
      defaultValue = "1s,100ms,10ms",
      description = "The intervals of polling beside the wheel. Default: ${DEFAULT-VALUE}")
  private List<String> intervals = List.of();

  DiscoveryBenchCommand() {
    super(Group.LEDGER, Group.KAFKA, Group.DISPATCHER);
  }

  @Override
  Map<String, String> serverSettings() {
    return IdleBench.SERVER_SETTINGS;
  }

  @Override
  Figures measure(BenchRun run) {
    LatenessBench lateness =
        new LatenessBench(
            run,
            new LatenessBench.Plan(
                1, seconds.value(), warmUpSeconds(), TENANTS, VALUE_BYTES, isQuick()));
    IdleBench idle =
        new IdleBench(
            run,
            new IdleBench.Plan(
                1,
                idleSeconds.value(),
                sized(IdleBenchCommand.CALM_SECONDS, 1),
                sized(10_000, 1_000),
                TENANTS,
                VALUE_BYTES));
    DiscoveryBench.Plan plan = new DiscoveryBench.Plan(repeats(), rate.value(), intervals);
    return new DiscoveryBench(run, plan, lateness, idle).run();
  }
}
