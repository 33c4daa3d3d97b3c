package io.escapement.cli;

import io.escapement.assembly.CommandFailure;
import io.escapement.config.ConfigException;
import io.escapement.config.Suggestion;
import io.escapement.dispatcher.DispatcherException;
import io.escapement.dispatcher.relay.RelayFailedException;
import io.escapement.embedded.EmbeddedStartException;
import io.escapement.ingest.IngestException;
import io.escapement.kafka.KafkaUnavailableException;
import io.escapement.ledger.LedgerException;
import io.escapement.ledger.LedgerUnavailableException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Turns what went wrong into one line on standard error that names the cause and the cure; the
 * stack trace is for {@code --verbose}.
 */
final class Complaints {

  static final int WRONG_USE = 2;
  static final int FAILURE = 1;

  private final PrintStream err;

  Complaints(PrintStream err) {
    this.err = err;
  }

  int aboutArguments(ParameterException e, String[] arguments) {
    CommandLine command = e.getCommandLine();
    String help = command.getCommandSpec().qualifiedName() + " --help";
    complain(argumentProblem(e) + " (" + help + " shows what there is)");
    if (List.of(arguments).contains("--verbose") || List.of(arguments).contains("-v")) {
      e.printStackTrace(err);
    }
    return WRONG_USE;
  }

  int aboutExecution(Exception e, CommandLine command, ParseResult parsed) {
    if (e instanceof CommandFailure several) {
      message(several).lines().forEach(this::complain);
    } else {
      complain(explain(e));
    }
    if (Logging.isVerbose(command)) {
      e.printStackTrace(err);
    }
    boolean wrongUse =
        e instanceof ConfigException || (e instanceof CommandFailure f && f.isWrongUse());
    return wrongUse ? WRONG_USE : FAILURE;
  }

  /** What to tell of an exception. */
  static String explain(Throwable e) {
    return switch (e) {
      case ConfigException known -> message(known);
      case CommandFailure known -> message(known);
      case LedgerUnavailableException known -> message(known);
      case KafkaUnavailableException known -> message(known);
      case EmbeddedStartException known -> explain(known);
      case IngestException known -> message(known);
      case RelayFailedException known -> message(known);
      case DispatcherException known -> message(known);
      case LedgerException known -> "the ledger failed: " + message(known);
      default -> "unexpected failure: " + e + " (run it again with --verbose for the stack trace)";
    };
  }

  private static String message(Throwable e) {
    return Objects.requireNonNullElse(e.getMessage(), e.toString());
  }

  private static String explain(EmbeddedStartException e) {
    return switch (e.reason()) {
      case POSTGRES_PORT_TAKEN ->
          "up.postgres-port: "
              + message(e)
              + "; choose another with --up-postgres-port, 0 for"
              + " any free one";
      case KAFKA_PORT_TAKEN ->
          "up.kafka-port: "
              + message(e)
              + "; choose another with --up-kafka-port, 0 for any"
              + " free one";
      case DIRECTORY_NOT_WRITABLE ->
          "data.dir: " + message(e) + "; choose one that this user may write with --data-dir";
      case DIRECTORY_IN_USE ->
          "data.dir: " + message(e) + "; stop that one, or choose another with --data-dir";
      case DIRECTORY_OF_OTHER_VERSION ->
          "data.dir: "
              + message(e)
              + "; choose another with --data-dir, or move the data with"
              + " pg_dump";
      case SERVERS_LEFT_OUT ->
          message(e)
              + " slim distribution; use the full one, or given servers: migrate, ingest, relay,"
              + " dispatch, and bench --given";
      case SERVER_FAILED -> message(e);
    };
  }

  private void complain(String message) {
    err.println("escapement: " + message.strip().replaceAll("\\s*[\\r\\n]+\\s*", " "));
    err.flush();
  }

  private static String argumentProblem(ParameterException e) {
    if (e instanceof UnmatchedArgumentException unmatched && !unmatched.getUnmatched().isEmpty()) {
      String wrong = unmatched.getUnmatched().get(0);
      String name = wrong.startsWith("-") ? wrong.replaceFirst("=.*", "") : wrong;
      return (wrong.startsWith("-") ? "unknown option " : "unknown argument ")
          + name
          + Suggestion.didYouMean(name, possible(unmatched.getCommandLine(), name));
    }
    return message(e);
  }

  private static List<String> possible(CommandLine command, String wrong) {
    List<String> names = new ArrayList<>();
    if (wrong.startsWith("-")) {
      for (OptionSpec option : command.getCommandSpec().options()) {
        names.addAll(List.of(option.names()));
      }
    } else {
      names.addAll(command.getSubcommands().keySet());
    }
    return names;
  }
}
