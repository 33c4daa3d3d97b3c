package io.escapement.cli;

import io.escapement.cli.Main.Terminal;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** All commands under one name, and what they have in common. */
final class CommandTree {

  private CommandTree() {}

  static CommandLine build(Terminal terminal, Map<String, String> environment) {
    CommandLine root = new CommandLine(new Root());
    List<ConfiguredCommand> commands =
        List.of(
            new DemoCommand(),
            new UpCommand(),
            new SubmitCommand(),
            new StatusCommand(),
            new AuditCommand(),
            new MigrateCommand(),
            new DoctorCommand(),
            new PartCommand.Ingest(),
            new PartCommand.Relay(),
            new PartCommand.Dispatch());
    for (ConfiguredCommand command : commands) {
      CommandLine line = new CommandLine(command);
      command.attach(line.getCommandSpec(), terminal, environment);
      root.addSubcommand(line);
    }
    root.addSubcommand(StubProviderCommand.build(terminal));
    root.addSubcommand(BenchCommand.build(terminal, environment));
    Complaints complaints = new Complaints(terminal.err());
    root.setOut(writer(terminal.out()));
    root.setErr(writer(terminal.err()));
    root.setUsageHelpAutoWidth(true);
    root.setParameterExceptionHandler(complaints::aboutArguments);
    root.setExecutionExceptionHandler(complaints::aboutExecution);
    root.setExecutionStrategy(Logging::setUpAndRun);
    return root;
  }

  private static PrintWriter writer(PrintStream stream) {
    return new PrintWriter(stream, true, StandardCharsets.UTF_8);
  }

  /** What can be said without a command. */
  @Command(
      name = "escapement",
      description =
          "Durable, delayed tasks between Kafka and PostgreSQL: every accepted request is done, on"
              + " time and once.",
      versionProvider = Version.class,
      mixinStandardHelpOptions = true,
      synopsisSubcommandLabel = "COMMAND",
      footer = {
        "",
        "Begin with: escapement demo",
        "Settings come from defaults, a file (--config), the environment (ESCAPEMENT_LEDGER_URL for"
            + " ledger.url) and flags, in that order; the later wins.",
        "Exit codes: 0 done, 1 failed, 2 wrong command or setting."
      })
  static final class Root {
    @Option(
        names = {"-v", "--verbose"},
        scope = ScopeType.INHERIT,
        description = "Log what happens, and show stack traces.")
    private boolean verbose;

    boolean verbose() {
      return verbose;
    }
  }

  /** The version that the build wrote into the jar. */
  static final class Version implements CommandLine.IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Main.class.getPackage().getImplementationVersion();
      return new String[] {
        "escapement " + (version == null ? "(not packaged)" : version),
        "Java " + System.getProperty("java.version") + ", " + System.getProperty("java.vendor")
      };
    }
  }
}
