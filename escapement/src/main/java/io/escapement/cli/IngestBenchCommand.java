package io.escapement.cli;

import io.escapement.bench.BenchRun;
import io.escapement.bench.Figures;
import io.escapement.bench.IngestBench;
import io.escapement.config.Key.Group;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Ingest beside a bare loop. */
@Command(
    name = "ingest",
    description = {
      "Accepted tasks a second from the requests topic to the commit, by one ingest process and by"
          + " two, beside the same rows written by a bare JDBC loop without any protocol."
    })
final class IngestBenchCommand extends BenchCommand {

  private final Amount records = amount("--records", 200_000, 5_000, "Records measured in a case.");
  private final Amount warmUp = amount("--warm-up", 100_000, 1_000, "Records decided before that.");
  private final Amount tenants = tenants();
  private final Amount payload = payload();

  @Option(
      names = "--history",
      paramLabel = "N",
      defaultValue = "0",
      description =
          "Measure also beside so many ended tasks; history_ratio compares with an empty ledger.")
  private long history;

  @Option(
      names = "--random-ids",
      description =
          "Spread the events' ids over the whole index, as UUIDs do. Default: ids that count up.")
  private boolean randomIds;

  IngestBenchCommand() {
    super(Group.LEDGER, Group.KAFKA, Group.INGEST);
  }

  @Override
  Figures measure(BenchRun run) {
    IngestBench.Plan plan =
        new IngestBench.Plan(
            repeats(),
            records.value(),
            warmUp.value(),
            tenants.value(),
            payload.value(),
            history,
            randomIds);
    return new IngestBench(run, plan).run();
  }
}
