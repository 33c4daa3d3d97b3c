package io.escapement.cli;

import io.escapement.assembly.CommandFailure;
import io.escapement.bench.BenchServers;
import io.escapement.bench.Figure;
import io.escapement.bench.Figures;
import io.escapement.bench.Stop;
import io.escapement.cli.Main.Terminal;
import io.escapement.config.Config;
import io.escapement.config.Key.Group;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Measures one thing, and tells it in a table and in lines of JSON. */
abstract class BenchCommand extends ConfiguredCommand {

  private static final int WARM_UP_SECONDS = 10;

  @Option(
      names = "--given",
      description =
          "Use the servers that ledger.* and kafka.* name, not embedded ones. Every case makes a"
              + " database and topics of its own there and removes them; no ledger that exists is"
              + " touched. The login must be allowed to create databases and roles.")
  private boolean given;

  @Option(
      names = "--dir",
      paramLabel = "DIRECTORY",
      description = "Where the embedded servers keep their data. Default: a temporary directory.")
  private @Nullable Path directory;

  @Option(
      names = "--repeats",
      paramLabel = "N",
      description =
          "How often every case is measured; the medians are told. Default: 3, or 1 with --quick.")
  private @Nullable Integer repeats;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Also write the figures to this file, one JSON object a line.")
  private @Nullable Path json;

  @Option(
      names = "--quick",
      description = "Very few records: shows that it works, the figures mean nothing.")
  private boolean quick;

  BenchCommand(Group... groups) {
    super(groups);
  }

  /** All benchmarks under one name. */
  static CommandLine build(Terminal terminal, Map<String, String> environment) {
    CommandLine bench = new CommandLine(new Parent());
    bench.getCommandSpec().mixinStandardHelpOptions(true);
    for (BenchCommand command :
        List.of(
            new IngestBenchCommand(),
            new PipelineBenchCommand(),
            new RelayBenchCommand(),
            new DispatchBenchCommand(),
            new LatenessBenchCommand(),
            new IdleBenchCommand(),
            new DiscoveryBenchCommand(),
            new OutboxBenchCommand())) {
      CommandLine line = new CommandLine(command);
      command.attach(line.getCommandSpec(), terminal, environment);
      bench.addSubcommand(line);
    }
    return bench;
  }

  /** What the embedded database server is to be started with, beside what is usual. */
  Map<String, String> serverSettings() {
    return Map.of();
  }

  /** Measures on these servers. */
  abstract Figures measure(BenchServers servers, Stop stop) throws InterruptedException;

  @Override
  public final Integer call() throws IOException, InterruptedException {
    requireWritable();
    Config config = config();
    StopSignal stop = StopSignal.install();
    say(given ? "using the given servers" : "starting PostgreSQL and Kafka");
    Figures figures;
    try (BenchServers servers =
        given
            ? BenchServers.given(config)
            : BenchServers.embedded(config, directory, serverSettings())) {
      figures = measure(servers, () -> stop.requested().isDone());
    }
    report(figures);
    return DONE;
  }

  final int repeats() {
    int wanted = repeats == null ? (quick ? 1 : 3) : repeats;
    return atLeast(1, "--repeats", wanted);
  }

  final boolean isQuick() {
    return quick;
  }

  /** What was asked for, or what is usual, or very little with {@code --quick}. */
  final int sized(@Nullable Integer asked, int usual, int little) {
    return asked != null ? asked : quick ? little : usual;
  }

  /** How long nothing is measured before latencies are. */
  final int warmUpSeconds() {
    return sized(null, WARM_UP_SECONDS, 1);
  }

  static int atLeast(int least, String option, int value) {
    if (value < least) {
      throw CommandFailure.wrongUse(
          option + " is " + value + "; it must be at least " + least, null);
    }
    return value;
  }

  /** Before minutes are spent on figures that can't be written. */
  private void requireWritable() {
    if (json != null) {
      writeJson(json, List.of());
    }
  }

  private void report(Figures figures) {
    Table table = new Table("case", "metric", "median", "unit", "repeats");
    List<String> lines = new ArrayList<>();
    for (Figure figure : figures.medians()) {
      table.row(
          figure.caseName(),
          figure.metric(),
          figure.shown(),
          figure.unit(),
          figures.spread(figure));
      lines.add(figure.json());
    }
    say("");
    say(table.lines().toArray(String[]::new));
    if (json != null) {
      writeJson(json, lines);
    }
  }

  private static void writeJson(Path file, List<String> lines) {
    try {
      Files.write(file, lines);
    } catch (IOException e) {
      throw CommandFailure.wrongUse("--json: " + file + " can't be written: " + e, e);
    }
  }

  /** Holds the benchmarks. */
  @Command(
      name = "bench",
      description = {
        "Measures this version, by default on servers of its own.",
        "docs/benchmarks.md says what each figure means."
      },
      synopsisSubcommandLabel = "BENCHMARK")
  static final class Parent implements Runnable {
    @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

    @Override
    public void run() {
      if (spec != null) {
        throw new CommandLine.ParameterException(
            spec.commandLine(), "name a benchmark: " + spec.subcommands().keySet());
      }
    }
  }
}
