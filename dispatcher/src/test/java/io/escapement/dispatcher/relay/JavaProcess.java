package io.escapement.dispatcher.relay;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A main class in a JVM of its own, to be killed, or stopped where it is. Its standard input ends
 * with this JVM.
 */
public class JavaProcess implements AutoCloseable {

  private final String name;
  private final Path log;
  private final Process process;

  /**
   * Starts one.
   *
   * @param name a test's name for it
   * @param log what it prints goes there
   */
  protected JavaProcess(String name, Path log, Class<?> main, List<?> arguments) {
    this.name = name;
    this.log = log;
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                "-Dlogback.configurationFile=" + System.getProperty("logback.configurationFile"),
                main.getName()));
    arguments.forEach(argument -> command.add(String.valueOf(argument)));
    try {
      process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(log.toFile())
              .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits, in the process itself, for the end of whoever started it, and ends it. */
  public static void endWithParent() throws IOException {
    while (System.in.read() >= 0) {
      // Nothing is said on it.
    }
    Runtime.getRuntime().halt(1);
  }

  public final String name() {
    return name;
  }

  /** What it has printed. */
  public final String printed() {
    try {
      return Files.readString(log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public final boolean isAlive() {
    return process.isAlive();
  }

  /** kill -9. */
  public final void kill() {
    process.destroyForcibly();
    await(process);
  }

  /** Stops the process where it is. */
  public final void freeze() {
    freeze(process.pid());
  }

  /** Lets it go on as if nothing had happened. */
  public final void thaw() {
    thaw(process.pid());
  }

  /** Stops any process where it is. */
  static void freeze(long pid) {
    signal("-STOP", pid);
  }

  /** Lets any process go on. */
  static void thaw(long pid) {
    signal("-CONT", pid);
  }

  private static void signal(String signal, long pid) {
    try {
      await(new ProcessBuilder("kill", signal, Long.toString(pid)).start());
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
  public final void close() {
    kill();
  }
}
