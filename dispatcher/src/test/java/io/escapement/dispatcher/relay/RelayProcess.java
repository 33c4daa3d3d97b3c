package io.escapement.dispatcher.relay;

import io.escapement.ledger.LedgerConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A relay in a JVM of its own. Its name is what PostgreSQL shows as its sessions' application. */
final class RelayProcess implements AutoCloseable {

  private final String name;
  private final Process process;

  private RelayProcess(String name, Process process) {
    this.name = name;
    this.process = process;
  }

  static RelayProcess start(String name, RelayConfig config) {
    return start(name, config, false);
  }

  /**
   * Starts one.
   *
   * @param careless commits the position on its own, some time after the events
   */
  static RelayProcess start(String name, RelayConfig config, boolean careless) {
    LedgerConfig ledger = config.ledger();
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx256m",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            "-Dlogback.configurationFile=" + System.getProperty("logback.configurationFile"),
            RelayMain.class.getName(),
            ledger.url() + "?ApplicationName=" + name,
            ledger.user(),
            ledger.password(),
            config.bootstrapServers(),
            config.topics().prefix(),
            config.slot(),
            Boolean.toString(careless));
    try {
      return new RelayProcess(
          name,
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(Path.of("target", name + ".log").toFile())
              .start());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  String name() {
    return name;
  }

  long pid() {
    return process.pid();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** kill -9. */
  void kill() {
    process.destroyForcibly();
    await(process);
  }

  /** Stops the process where it is. */
  void freeze() {
    signal("-STOP");
  }

  /** Lets it go on as if nothing had happened. */
  void thaw() {
    signal("-CONT");
  }

  private void signal(String signal) {
    try {
      await(new ProcessBuilder("kill", signal, Long.toString(process.pid())).start());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void await(Process ending) {
    try {
      if (!ending.waitFor(30, TimeUnit.SECONDS)) {
        throw new IllegalStateException("a process does not end");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
