package io.escapement.cli;

import io.escapement.assembly.CommandFailure;
import io.escapement.bench.BenchRun;
import io.escapement.bench.BenchServers;
import io.escapement.bench.Figure;
import io.escapement.bench.Figures;
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
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
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
      names = "--json",
      paramLabel = "FILE",
      description = "Also write the figures to this file, one JSON object a line.")
  private @Nullable Path json;

  @Option(
      names = "--quick",
      description = "Very few records: shows that it works, the figures mean nothing.")
  private boolean quick;

  private final List<Amount> amounts = new ArrayList<>();
  private final Amount repeats =
      amount("--repeats", 3, 1, "How often every case is measured; the medians are told.");

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
            new FairnessBenchCommand(),
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
  abstract Figures measure(BenchRun run);

  /** Declares an option for a number: what is usual, and what {@code --quick} makes of it. */
  final Amount amount(String name, int usual, int quickly, String meaning) {
    return amount(name, "N", usual, quickly, meaning);
  }

  /** {@code --tenants}. */
  final Amount tenants() {
    return amount("--tenants", 10, 10, "Tenants that share the tasks.");
  }

  /** {@code --payload}. */
  final Amount payload() {
    return amount("--payload", "BYTES", 200, 200, "Size of each task's value.");
  }

  private Amount amount(String name, String label, int usual, int quickly, String meaning) {
    Amount amount = new Amount(name, label, usual, quickly, meaning);
    amounts.add(amount);
    return amount;
  }

  @Override
  final void addOptions(CommandSpec spec) {
    amounts.forEach(amount -> spec.addOption(amount.option));
  }

  @Override
  public final Integer call() throws IOException {
    requireSensible();
    Config config = config();
    StopSignal stop = StopSignal.install();
    say(given ? "using the given servers" : "starting PostgreSQL and Kafka");
    Figures figures;
    try (BenchServers servers =
        given
            ? BenchServers.given(config)
            : BenchServers.embedded(config, directory, serverSettings())) {
      figures = measure(new BenchRun(servers, () -> stop.requested().isDone(), this::say));
    }
    report(figures);
    return DONE;
  }

  final int repeats() {
    return repeats.value();
  }

  final boolean isQuick() {
    return quick;
  }

  /** What is usual, or very little with {@code --quick}. */
  final int sized(int usual, int quickly) {
    return quick ? quickly : usual;
  }

  /** How long nothing is measured before latencies are. */
  final int warmUpSeconds() {
    return sized(WARM_UP_SECONDS, 1);
  }

  /** Before minutes are spent on figures that can't be written, or servers started for nothing. */
  private void requireSensible() {
    amounts.forEach(Amount::value);
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

  /** An option for a number of something. */
  final class Amount {
    private final String name;
    private final int usual;
    private final int quickly;
    private final OptionSpec option;
    private int least = 1;

    private Amount(String name, String label, int usual, int quickly, String meaning) {
      this.name = name;
      this.usual = usual;
      this.quickly = quickly;
      String otherwise = quickly == usual ? "" : ", or " + quickly + " with --quick";
      this.option =
          OptionSpec.builder(name)
              .paramLabel(label)
              .type(Integer.class)
              .description(meaning + " Default: " + usual + otherwise)
              .build();
    }

    /** Fewer than this make no sense; otherwise fewer than one. */
    Amount atLeast(int fewest) {
      least = fewest;
      return this;
    }

    /** What was asked for, or what is usual, or very little with {@code --quick}. */
    int value() {
      int value = option.getValue() instanceof Integer asked ? asked : sized(usual, quickly);
      if (value < least) {
        throw CommandFailure.wrongUse(
            name + " is " + value + "; it must be at least " + least, null);
      }
      return value;
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
    @CommandLine.Spec private @Nullable CommandSpec spec;

    @Override
    public void run() {
      if (spec != null) {
        throw new CommandLine.ParameterException(
            spec.commandLine(), "name a benchmark: " + spec.subcommands().keySet());
      }
    }
  }
}
