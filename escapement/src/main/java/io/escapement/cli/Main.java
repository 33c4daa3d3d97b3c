package io.escapement.cli;

import java.io.PrintStream;
import java.util.Map;

/** Where {@code bin/escapement} enters. */
public final class Main {

  private Main() {}

  /** Runs one command and exits with its code. */
  public static void main(String[] arguments) {
    int code = run(new Terminal(System.out, System.err), System.getenv(), arguments);
    // Clients of Kafka and of PostgreSQL may have left threads that would keep the process.
    System.exit(code);
  }

  /** Runs one command; 0 is success, 1 a failure, 2 a command or setting that can't be used. */
  static int run(Terminal terminal, Map<String, String> environment, String... arguments) {
    return CommandTree.build(terminal, environment).execute(arguments);
  }

  /** The two streams that commands write to. */
  record Terminal(PrintStream out, PrintStream err) {}
}
