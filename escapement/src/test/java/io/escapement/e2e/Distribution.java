package io.escapement.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The assembled distribution; commands run as processes, in an environment without settings. */
final class Distribution {

  private static final long COMMAND_LIMIT_SECONDS = 300;

  private final Path home;
  private final Path scratch;
  private final Map<String, String> environment = new HashMap<>();
  private int runs;

  private Distribution(Path home, Path scratch) {
    this.home = home;
    this.scratch = scratch;
  }

  /** With the embedded servers; what commands print goes to files in a directory. */
  static Distribution full(Path scratch) {
    return of("escapement.distribution", "target/escapement", scratch);
  }

  /** Without the embedded servers. */
  static Distribution slim(Path scratch) {
    return of("escapement.distribution.slim", "target/escapement-slim", scratch);
  }

  private static Distribution of(String property, String usual, Path scratch) {
    Path home = Path.of(System.getProperty(property, usual));
    assertThat(home.resolve("bin/escapement")).isExecutable();
    return new Distribution(home.toAbsolutePath(), scratch);
  }

  Path home() {
    return home;
  }

  /** Sets a variable for all commands that follow. */
  Distribution with(String variable, String value) {
    environment.put(variable, value);
    return this;
  }

  /** Runs a command to its end. */
  Result run(String... arguments) throws IOException, InterruptedException {
    Started started = start(arguments);
    if (!started.process().waitFor(COMMAND_LIMIT_SECONDS, TimeUnit.SECONDS)) {
      started.process().destroyForcibly();
      throw new AssertionError(
          String.join(" ", arguments) + " does not end; it said: " + started.read());
    }
    return started.read();
  }

  /** Starts a command. */
  Started start(String... arguments) throws IOException {
    return start(home.resolve("bin/escapement"), arguments);
  }

  /** Starts a command by some other path to the launcher. */
  Started start(Path launcher, String... arguments) throws IOException {
    List<String> command = new ArrayList<>(List.of(launcher.toString()));
    command.addAll(List.of(arguments));
    String name = "run-" + runs++;
    Path out = scratch.resolve(name + ".out");
    Path err = scratch.resolve(name + ".err");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(scratch.toFile())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile());
    builder.environment().keySet().removeIf(variable -> variable.startsWith("ESCAPEMENT_"));
    builder.environment().putAll(environment);
    return new Started(builder.start(), out, err);
  }

  /** A command that was started, and where it prints to. */
  record Started(Process process, Path out, Path err) {
    Result read() throws IOException {
      int exit = process.isAlive() ? -1 : process.exitValue();
      return new Result(exit, Files.readString(out), Files.readString(err));
    }
  }

  /**
   * What a command came to.
   *
   * @param exit its code; -1 if it still runs
   */
  record Result(int exit, String out, String err) {}
}
