package io.escapement.embedded.stub;

import org.jspecify.annotations.Nullable;

/**
 * The stub as a process, for tests: {@code StubProviderMain [--port N] [--host HOST]
 * [--signing-secret whsec_…] [--end-with-parent]}. It says where it listens in one line on standard
 * output, and ends with 0 at SIGTERM. What keeps it from starting is one line on standard error,
 * exit code 2 for arguments and 1 otherwise. With {@code --end-with-parent} it ends when the
 * process that started it is gone, even killed.
 */
public final class StubProviderMain {

  private static final int FAILED = 1;
  private static final int WRONG_USE = 2;

  private StubProviderMain() {}

  /** Runs until it is told to stop. */
  public static void main(String[] arguments) throws InterruptedException {
    try {
      StubProvider stub = StubProvider.start(read(arguments));
      Runtime.getRuntime().addShutdownHook(new Thread(() -> end(stub), "stub-stop"));
      System.out.println(stub.greeting());
      System.out.flush();
      Thread.currentThread().join();
    } catch (StubStartException e) {
      System.err.println("stub-provider: " + e.getMessage());
      System.exit(e.isWrongUse() ? WRONG_USE : FAILED);
    }
  }

  /** Told by a signal, a Java runtime ends with another code than 0; this was no failure. */
  private static void end(StubProvider stub) {
    stub.close();
    Runtime.getRuntime().halt(0);
  }

  private static StubProvider.Config read(String[] arguments) {
    String host = StubProvider.Config.LOOPBACK;
    int port = 0;
    String secret = null;
    for (int i = 0; i < arguments.length; i++) {
      switch (arguments[i]) {
        case "--host" -> host = value(arguments, i++);
        case "--port" -> port = number(value(arguments, i++));
        case "--signing-secret" -> secret = value(arguments, i++);
        case "--end-with-parent" -> endWithParent();
        default ->
            throw wrongUse(
                "unknown argument "
                    + arguments[i]
                    + "; there are --port, --host, --signing-secret and --end-with-parent",
                null);
      }
    }
    return new StubProvider.Config(host, port, secret);
  }

  private static String value(String[] arguments, int option) {
    if (option + 1 == arguments.length) {
      throw wrongUse(arguments[option] + " needs a value", null);
    }
    return arguments[option + 1];
  }

  private static int number(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw wrongUse("--port is '" + text + "'; write a whole number", e);
    }
  }

  private static StubStartException wrongUse(String line, @Nullable Throwable cause) {
    return new StubStartException(line, true, cause);
  }

  private static void endWithParent() {
    ProcessHandle.current()
        .parent()
        .ifPresent(parent -> Thread.ofPlatform().daemon().start(() -> endAfter(parent)));
  }

  private static void endAfter(ProcessHandle parent) {
    parent.onExit().join();
    Runtime.getRuntime().halt(0);
  }
}
