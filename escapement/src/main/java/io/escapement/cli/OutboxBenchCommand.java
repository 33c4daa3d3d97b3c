package io.escapement.cli;

import io.escapement.bench.BenchServers;
import io.escapement.bench.Figures;
import io.escapement.bench.OutboxBench;
import io.escapement.bench.Stop;
import io.escapement.config.Key.Group;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The outbox table under load. */
@Command(
    name = "outbox",
    description = {
      "How large the outbox table and its indexes are while rows are written, relayed and deleted:"
          + " in the steady state, while a long transaction elsewhere holds vacuum back, and after"
          + " it."
    })
final class OutboxBenchCommand extends BenchCommand {

  private static final int STEADY_SECONDS = 180;
  private static final int HELD_SECONDS = 120;

  @Option(
      names = "--rate",
      paramLabel = "N",
      defaultValue = "200",
      description = "Rows written a second. Default: ${DEFAULT-VALUE}")
  private int rate;

  @Option(
      names = "--events",
      paramLabel = "N",
      defaultValue = "20",
      description = "Events in a row. Default: ${DEFAULT-VALUE}")
  private int events;

  @Option(
      names = "--steady-seconds",
      paramLabel = "N",
      description = "How long rows are written before vacuum is held back. Default: 180")
  private @Nullable Integer steady;

  @Option(
      names = "--held-seconds",
      paramLabel = "N",
      description = "How long vacuum is held back; so long is watched after it, too. Default: 120")
  private @Nullable Integer held;

  OutboxBenchCommand() {
    super(Group.LEDGER, Group.KAFKA, Group.RELAY);
  }

  @Override
  Figures measure(BenchServers servers, Stop stop) {
    OutboxBench.Plan plan =
        new OutboxBench.Plan(
            atLeast(1, "--rate", rate),
            atLeast(2, "--events", events),
            atLeast(1, "--steady-seconds", sized(steady, STEADY_SECONDS, 3)),
            atLeast(1, "--held-seconds", sized(held, HELD_SECONDS, 2)));
    return new OutboxBench(servers, plan, stop, this::say).run();
  }
}
