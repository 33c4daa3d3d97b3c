package io.escapement.cli;

import io.escapement.bench.BenchRun;
import io.escapement.bench.Figures;
import io.escapement.bench.IdleBench;
import io.escapement.config.Key.Group;
import java.util.Map;
import picocli.CommandLine.Command;

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

  private final Amount seconds =
      amount("--seconds", 60, QUICK_SECONDS, "How long the idle dispatcher is watched.");
  private final Amount waiting = amount("--waiting", 10_000, 1_000, "Tasks that are due tomorrow.");
  private final Amount tenants = tenants();
  private final Amount payload = payload();

  IdleBenchCommand() {
    super(Group.LEDGER, Group.KAFKA, Group.DISPATCHER);
  }

  @Override
  Map<String, String> serverSettings() {
    return IdleBench.SERVER_SETTINGS;
  }

  @Override
  Figures measure(BenchRun run) {
    IdleBench.Plan plan =
        new IdleBench.Plan(
            repeats(),
            seconds.value(),
            sized(CALM_SECONDS, 1),
            waiting.value(),
            tenants.value(),
            payload.value());
    return new IdleBench(run, plan).run();
  }
}
