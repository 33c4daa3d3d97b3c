package io.escapement.cli;

import io.escapement.assembly.CommandFailure;
import io.escapement.bench.BenchServers;
import io.escapement.bench.Figure;
import io.escapement.bench.Figures;
import io.escapement.bench.IngestBench;
import io.escapement.bench.PipelineBench;
import io.escapement.bench.RelayBench;
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
    for (BenchCommand command : List.of(new Ingest(), new Pipeline(), new Relay())) {
      CommandLine line = new CommandLine(command);
      command.attach(line.getCommandSpec(), terminal, environment);
      bench.addSubcommand(line);
    }
    return bench;
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
        given ? BenchServers.given(config) : BenchServers.embedded(config, directory)) {
      figures = measure(servers, () -> stop.requested().isDone());
    }
    report(figures);
    return DONE;
  }

  final int repeats() {
    int wanted = repeats == null ? (quick ? 1 : 3) : repeats;
    return atLeast(1, "--repeats", wanted);
  }

  /** What was asked for, or what is usual, or very little with {@code --quick}. */
  final int sized(@Nullable Integer asked, int usual, int little) {
    return asked != null ? asked : quick ? little : usual;
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

  /** Ingest beside a bare loop. */
  @Command(
      name = "ingest",
      description = {
        "Accepted tasks a second from the requests topic to the commit, by one ingest process and by"
            + " two, beside the same rows written by a bare JDBC loop without any protocol."
      })
  static final class Ingest extends BenchCommand {
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

    Ingest() {
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

  /** The way through all parts. */
  @Command(
      name = "pipeline",
      description = {
        "Tasks a second from the requests topic to the outcome, and the time from produce to outcome"
            + " at an even rate; ingest, relay and dispatcher run as a process each."
      })
  static final class Pipeline extends BenchCommand {
    @Option(
        names = "--tasks",
        paramLabel = "N",
        description = "Immediate tasks whose rate is measured. Default: 50000")
    private @Nullable Integer tasks;

    @Option(
        names = "--warm-up",
        paramLabel = "N",
        description = "Tasks before that. Default: 20000")
    private @Nullable Integer warmUp;

    @Option(
        names = "--rate",
        paramLabel = "N",
        defaultValue = "200",
        description = "Tasks a second for the latencies. Default: ${DEFAULT-VALUE}")
    private int rate;

    @Option(
        names = "--seconds",
        paramLabel = "N",
        description = "How long latencies are measured. Default: 30")
    private @Nullable Integer seconds;

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
        description = "Size of each record's value. Default: ${DEFAULT-VALUE}")
    private int valueBytes;

    Pipeline() {
      super(Group.LEDGER, Group.KAFKA, Group.INGEST, Group.RELAY, Group.DISPATCHER);
    }

    @Override
    Figures measure(BenchServers servers, Stop stop) {
      PipelineBench.Plan plan =
          new PipelineBench.Plan(
              repeats(),
              atLeast(1, "--tasks", sized(tasks, 50_000, 500)),
              atLeast(1, "--warm-up", sized(warmUp, 20_000, 100)),
              atLeast(1, "--rate", rate),
              atLeast(1, "--seconds", sized(seconds, 30, 2)),
              sized(null, WARM_UP_SECONDS, 1),
              atLeast(1, "--tenants", tenants),
              atLeast(1, "--payload", valueBytes));
      return new PipelineBench(servers, plan, stop, this::say).run();
    }
  }

  /** The relay alone. */
  @Command(
      name = "relay",
      description = {
        "The relay alone, as a process: time from commit to readable, processor time while idle,"
            + " events a second at full load, and how long a takeover takes after a kill -9."
      })
  static final class Relay extends BenchCommand {
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

    Relay() {
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
}
