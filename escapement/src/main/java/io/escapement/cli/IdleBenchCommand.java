package io.escapement.cli;

import io.escapement.bench.BenchServers;
import io.escapement.bench.Figures;
import io.escapement.bench.IdleBench;
import io.escapement.bench.Stop;
import io.escapement.config.Key.Group;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The dispatcher without work. */
@Command(
    name = "idle",
    description = {
      "What one dispatcher process costs while nothing is due: statements and buffers a second of"
          + " the database, and processor time."
    })
final class IdleBenchCommand extends BenchCommand {

  /** More than dispatcher.sweep, so that there is something to count. */
  static final int QUICK_SECONDS = 7;

  /** By then every session has told what it did before. */
  static final int CALM_SECONDS = 15;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      description = "How long the idle dispatcher is watched. Default: 60")
  private @Nullable Integer seconds;

  @Option(
      names = "--waiting",
      paramLabel = "N",
      description = "Tasks that are due tomorrow. Default: 10000")
  private @Nullable Integer waiting;

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

  IdleBenchCommand() {
    super(Group.LEDGER, Group.KAFKA, Group.DISPATCHER);
  }

  @Override
  Map<String, String> serverSettings() {
    return IdleBench.SERVER_SETTINGS;
  }

  @Override
  Figures measure(BenchServers servers, Stop stop) {
    IdleBench.Plan plan =
        new IdleBench.Plan(
            repeats(),
            atLeast(1, "--seconds", sized(seconds, 60, QUICK_SECONDS)),
            sized(null, CALM_SECONDS, 1),
            atLeast(1, "--waiting", sized(waiting, 10_000, 1_000)),
            atLeast(1, "--tenants", tenants),
            atLeast(1, "--payload", valueBytes));
    return new IdleBench(servers, plan, stop, this::say).run();
  }
}
