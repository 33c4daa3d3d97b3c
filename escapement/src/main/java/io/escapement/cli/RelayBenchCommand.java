package io.escapement.cli;

import io.escapement.bench.BenchServers;
import io.escapement.bench.Figures;
import io.escapement.bench.RelayBench;
import io.escapement.bench.Stop;
import io.escapement.config.Key.Group;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The relay alone. */
@Command(
    name = "relay",
    description = {
      "The relay alone, as a process: time from commit to readable, processor time while idle,"
          + " events a second at full load, and how long a takeover takes after a kill -9."
    })
final class RelayBenchCommand extends BenchCommand {

  /** By then the relay's code is compiled; a relay runs for months. */
  private static final int WARM_UP_SECONDS = 40;

  @Option(
      names = "--rate",
      paramLabel = "N",
      defaultValue = "200",
      description = "Transactions a second for the latencies. Default: ${DEFAULT-VALUE}")
  private int rate;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      description = "How long latencies are measured. Default: 30")
  private @Nullable Integer seconds;

  @Option(
      names = "--idle-seconds",
      paramLabel = "N",
      description = "How long the idle relay is watched. Default: 20")
  private @Nullable Integer idleSeconds;

  @Option(
      names = "--events",
      paramLabel = "N",
      description = "Events that wait at full load, 500 a row. Default: 3000000")
  private @Nullable Integer events;

  RelayBenchCommand() {
    super(Group.LEDGER, Group.KAFKA, Group.RELAY);
  }

  @Override
  Figures measure(BenchServers servers, Stop stop) {
    RelayBench.Plan plan =
        new RelayBench.Plan(
            repeats(),
            atLeast(1, "--rate", rate),
            atLeast(1, "--seconds", sized(seconds, 30, 2)),
            sized(null, WARM_UP_SECONDS, 1),
            atLeast(1, "--idle-seconds", sized(idleSeconds, 20, 1)),
            atLeast(1, "--events", sized(events, 3_000_000, 50_000)));
    return new RelayBench(servers, plan, stop, this::say).run();
  }
}
