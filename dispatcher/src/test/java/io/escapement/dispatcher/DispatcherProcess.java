package io.escapement.dispatcher;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A dispatcher in a JVM of its own, to be killed and stopped. It ends with this JVM. Its name is
 * what PostgreSQL shows as its sessions' application.
 */
final class DispatcherProcess implements AutoCloseable {

  private final String name;
  private final Path stats;
  private final Process process;

  private DispatcherProcess(String name, Path stats, Process process) {
    this.name = name;
    this.stats = stats;
    this.process = process;
  }

  static DispatcherProcess start(
      String name, DispatcherConfig c, Path directory, Class<? extends TaskHandler> handler) {
    String kafka =
        c.kafka().entrySet().stream()
            .map(property -> property.getKey() + "=" + property.getValue())
            .collect(Collectors.joining(";"));
    List<String> command =
        Stream.of(
                Path.of(System.getProperty("java.home"), "bin", "java"),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                "-Dlogback.configurationFile=" + System.getProperty("logback.configurationFile"),
                DispatcherMain.class.getName(),
                name,
                directory,
                handler.getName(),
                c.ledger().url() + "?ApplicationName=" + name,
                c.ledger().user(),
                c.ledger().password(),
                c.ledger().poolSize(),
                kafka,
                c.topics().prefix(),
                c.concurrency(),
                c.threads(),
                c.knownLimit(),
                c.horizon().toMillis(),
                c.sweep().toMillis())
            .map(String::valueOf)
            .toList();
    try {
      return new DispatcherProcess(
          name,
          directory.resolve(name + ".stats"),
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(directory.resolve(name + ".log").toFile())
              .start());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  String name() {
    return name;
  }

  /** Slots that it owned when it last said so. */
  int slots() {
    return stat(0);
  }

  /** Timers in its wheel when it last said so. */
  int timers() {
    return stat(1);
  }

  private int stat(int at) {
    if (!process.isAlive()) {
      throw new IllegalStateException("the dispatcher has ended; see its log");
    }
    try {
      return Files.exists(stats)
          ? Integer.parseInt(List.of(Files.readString(stats).split(" ")).get(at))
          : 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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
    kill();
  }
}
