package io.escapement.cli;

import io.escapement.bench.BenchServers;
import io.escapement.bench.Figures;
import io.escapement.bench.IngestBench;
import io.escapement.bench.Stop;
import io.escapement.config.Key.Group;
import org.jspecify.annotations.Nullable;
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
  @Option(
      names = "--records",
      paramLabel = "N",
      description = "Records measured in a case. Default: 200000")
  private @Nullable Integer records;

  @Option(
      names = "--warm-up",
      paramLabel = "N",
      description = "Records decided before that. Default: 100000")
  private @Nullable Integer warmUp;

  @Option(
      names = "--tenants",
      paramLabel = "N",
      defaultValue = "10",
      description = "Tenants that share the records. Default: ${DEFAULT-VALUE}")
  private int tenants;

  @Option(
      names = "--payload",
      paramLabel = "BYTES",
      defaultValue = "200",
      description = "Size of each record's value. Default: ${DEFAULT-VALUE}")
  private int valueBytes;

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
  Figures measure(BenchServers servers, Stop stop) {
    IngestBench.Plan plan =
        new IngestBench.Plan(
            repeats(),
            atLeast(1, "--records", sized(records, 200_000, 5_000)),
            atLeast(1, "--warm-up", sized(warmUp, 100_000, 1_000)),
            atLeast(1, "--tenants", tenants),
            atLeast(1, "--payload", valueBytes),
            history,
            randomIds);
    return new IngestBench(servers, plan, stop, this::say).run();
  }
}
