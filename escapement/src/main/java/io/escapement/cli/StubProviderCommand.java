package io.escapement.cli;

import io.escapement.assembly.CommandFailure;
import io.escapement.cli.Main.Terminal;
import io.escapement.embedded.stub.StubProvider;
import io.escapement.embedded.stub.StubStartException;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs a stub of an HTTP provider until it is told to stop. It has no settings, only options. */
@Command(
    name = "stub-provider",
    sortOptions = false,
    description = {
      "Runs a stub of a provider behind HTTP, for trying the definition of a channel: it accepts,"
          + " refuses, hangs, drops and forgets as a script says, and counts what was delivered.",
      "POST /messages is a call, GET /messages/{reference} a query, PUT /stub/scripts/{reference}"
          + " sets a script, GET /stub/counts tells the counts; docs/stub-provider.md has the rest."
          + " Nothing is kept when it stops (Ctrl-C or SIGTERM)."
    })
final class StubProviderCommand implements Callable<Integer> {

  private final Terminal terminal;

  @Option(
      names = "--port",
      paramLabel = "N",
      defaultValue = "0",
      description = "The port to listen on; 0 is any free one. Default: ${DEFAULT-VALUE}")
  private int port;

  @Option(
      names = "--host",
      paramLabel = "HOST",
      defaultValue = StubProvider.Config.LOOPBACK,
      description =
          "The address of this machine to listen on. Whoever reaches it may do everything with the"
              + " stub. Default: ${DEFAULT-VALUE}")
  private String host = StubProvider.Config.LOOPBACK;

  @Option(
      names = "--signing-secret",
      paramLabel = "whsec_...",
      description =
          "Answer 401 to calls that are not signed with this secret by the rules of Standard"
              + " Webhooks.")
  private @Nullable String signingSecret;

  private StubProviderCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  static CommandLine build(Terminal terminal) {
    CommandLine line = new CommandLine(new StubProviderCommand(terminal));
    line.getCommandSpec().mixinStandardHelpOptions(true);
    return line;
  }

  @Override
  public Integer call() {
    StopSignal stop = StopSignal.install();
    try (StubProvider stub =
        StubProvider.start(new StubProvider.Config(host, port, signingSecret))) {
      terminal.out().println(stub.greeting());
      terminal.out().flush();
      stop.requested().join();
    } catch (StubStartException e) {
      String message = String.valueOf(e.getMessage());
      throw e.isWrongUse() ? CommandFailure.wrongUse(message, e) : new CommandFailure(message, e);
    }
    return ConfiguredCommand.DONE;
  }
}
