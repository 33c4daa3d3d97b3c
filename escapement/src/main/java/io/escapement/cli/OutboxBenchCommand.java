package io.escapement.cli;

import io.escapement.bench.BenchRun;
import io.escapement.bench.Figures;
import io.escapement.bench.OutboxBench;
import io.escapement.config.Key.Group;
import picocli.CommandLine.Command;

/** The outbox table under load. */
@Command(
    name = "outbox",
    description = {
      "How large the outbox table and its indexes are while rows are written, relayed and deleted:"
          + " in the steady state, while a long transaction elsewhere holds vacuum back, and after"
          + " it."
    })
final class OutboxBenchCommand extends BenchCommand {

  private final Amount rate = amount("--rate", 200, 200, "Rows written a second.");
  private final Amount events = amount("--events", 20, 20, "Events in a row.").atLeast(2);
  private final Amount steady =
      amount("--steady-seconds", 180, 3, "How long rows are written before vacuum is held back.");
  private final Amount held =
      amount(
          "--held-seconds",
          120,
          2,
          "How long vacuum is held back; so long is watched after it, too.");

  OutboxBenchCommand() {
    super(Group.LEDGER, Group.KAFKA, Group.RELAY);
  }

  @Override
  Figures measure(BenchRun run) {
    OutboxBench.Plan plan =
        new OutboxBench.Plan(rate.value(), events.value(), steady.value(), held.value());
    return new OutboxBench(run, plan).run();
  }
}
