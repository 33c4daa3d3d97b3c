package io.escapement.bench;

import io.escapement.assembly.CommandFailure;
import io.escapement.config.Config;
import io.escapement.config.ConfigLoader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.TimeUnit;

/**
 * A part as a process of its own, as it runs in production: the same Java and class path as this
 * one, its own heap and its own settings.
 *
 * <p>Ordering: it ends with this process, also if that is told to stop twice. Thread rule: one
 * thread. Failure: {@link CommandFailure} with what the process said last.
 */
final class ChildPart implements AutoCloseable {

  private static final Duration START_LIMIT = Duration.ofSeconds(90);
  private static final long STOP_LIMIT_SECONDS = 30;
  private static final int SAID_AT_MOST = 2_000;

  private final String name;
  private final Process process;
  private final Path out;
  private final Path err;
  private final Thread atExit;

  private ChildPart(String name, Process process, Path out, Path err) {
    this.name = name;
    this.process = process;
    this.out = out;
    this.err = err;
    // What is told to stop twice runs no finally.
    this.atExit = new Thread(process::destroyForcibly, "end-" + name);
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  /**
   * Starts a command and waits until it says that it runs.
   *
   * @param directory where its settings and what it says are kept
   */
  static ChildPart start(String command, Config config, Path directory, Patience patience) {
    ChildPart child = launch(command, config, directory);
    try {
      patience.await(
          command + " to run",
          START_LIMIT,
          List.of(child),
          () -> child.read(child.out).contains(" runs;"));
      return child;
    } catch (RuntimeException e) {
      child.close();
      throw e;
    }
  }

  private static ChildPart launch(String command, Config config, Path directory) {
    try {
      Path settings = Files.createTempFile(directory, command + "-", ".properties");
      String name = settings.getFileName().toString().replace(".properties", "");
      write(config, settings);
      Path out = directory.resolve(name + ".out");
      Path err = directory.resolve(name + ".err");
      ProcessBuilder builder =
          new ProcessBuilder(javaCommand(command))
              .directory(directory.toFile())
              .redirectOutput(out.toFile())
              .redirectError(err.toFile());
      builder
          .environment()
          .keySet()
          .removeIf(variable -> variable.startsWith(ConfigLoader.VARIABLE_PREFIX));
      builder.environment().put(ConfigLoader.FILE_VARIABLE, settings.toString());
      return new ChildPart(name, builder.start(), out, err);
    } catch (IOException e) {
      throw new CommandFailure(command + " could not be started as a process: " + e, e);
    }
  }

  /** As the launcher does, with the Java that runs this. */
  private static List<String> javaCommand(String command) {
    List<String> java = new ArrayList<>();
    java.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    java.add("--enable-native-access=ALL-UNNAMED");
    if (Runtime.version().feature() >= 23) {
      java.add("--sun-misc-unsafe-memory-access=allow");
    }
    java.addAll(List.of("-Xmx512m", "-XX:+ExitOnOutOfMemoryError", "-Dfile.encoding=UTF-8"));
    java.addAll(List.of("-cp", System.getProperty("java.class.path")));
    java.addAll(List.of("io.escapement.cli.Main", command));
    return java;
  }

  private static void write(Config config, Path file) throws IOException {
    // It holds the password.
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    Properties properties = new Properties();
    properties.putAll(config.values());
    try (Writer writer = Files.newBufferedWriter(file, StandardCharsets.UTF_8)) {
      properties.store(writer, null);
    }
  }

  long pid() {
    return process.pid();
  }

  /** Processor time that it has used so far. */
  Duration cpu() {
    Optional<Duration> used = process.toHandle().info().totalCpuDuration();
    return used.orElseThrow(
        () -> new CommandFailure("this machine does not tell the processor time of a process"));
  }

  /** Fails if it has ended by itself. */
  void requireAlive() {
    if (!process.isAlive()) {
      throw new CommandFailure(
          String.format(
              Locale.ROOT,
              "%s ended by itself with code %d: %s",
              name,
              process.exitValue(),
              tail(read(err))));
    }
  }

  /** Ends it without a word, as {@code kill -9} does. */
  void kill() {
    process.destroyForcibly().onExit().join();
  }

  /** Asks it to stop, and ends it if it does not. */
  @Override
  public void close() {
    try {
      process.destroy();
      if (!process.waitFor(STOP_LIMIT_SECONDS, TimeUnit.SECONDS)) {
        kill();
      }
    } catch (InterruptedException e) {
      kill();
      Thread.currentThread().interrupt();
    }
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException alreadyExiting) {
      kill();
    }
  }

  private String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String tail(String said) {
    String one = said.strip().replace('\n', ' ');
    return one.substring(Math.max(0, one.length() - SAID_AT_MOST));
  }
}
