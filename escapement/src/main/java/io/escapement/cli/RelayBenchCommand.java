package io.escapement.cli;

import io.escapement.bench.BenchRun;
import io.escapement.bench.Figures;
import io.escapement.bench.RelayBench;
import io.escapement.config.Key.Group;
import picocli.CommandLine.Command;

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

  private final Amount rate =
      amount("--rate", 200, 200, "Transactions a second for the latencies.");
  private final Amount seconds = amount("--seconds", 30, 2, "How long latencies are measured.");
  private final Amount idleSeconds =
      amount("--idle-seconds", 20, 1, "How long the idle relay is watched.");
  private final Amount events =
      amount("--events", 3_000_000, 50_000, "Events that wait at full load, 500 a row.");

  RelayBenchCommand() {
    super(Group.LEDGER, Group.KAFKA, Group.RELAY);
  }

  @Override
  Figures measure(BenchRun run) {
    RelayBench.Plan plan =
        new RelayBench.Plan(
            repeats(),
            rate.value(),
            seconds.value(),
            sized(WARM_UP_SECONDS, 1),
            idleSeconds.value(),
            events.value());
    return new RelayBench(run, plan).run();
  }
}
