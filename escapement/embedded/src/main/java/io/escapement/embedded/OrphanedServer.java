package io.escapement.embedded;

import io.escapement.embedded.EmbeddedStartException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The PostgreSQL server that a killed process left behind in a data directory.
 *
 * <p>PostgreSQL outlives a {@code kill -9} of the process that started it. Whoever holds the data
 * directory's lock may stop it: nobody else can be using it. It is stopped the fast way: sessions
 * are ended, nothing that was committed is lost. A pid file whose process is something else by now
 * (pids are soon used again in a container) is removed, as PostgreSQL would refuse to start over
 * it.
 */
final class OrphanedServer {
  private static final Logger LOG = LoggerFactory.getLogger(OrphanedServer.class);
  private static final Duration STOP_LIMIT = Duration.ofSeconds(60);

  private OrphanedServer() {}

  /** Stops the server that a pid file of the directory names, if it is one and runs. */
  static void stop(Path postgresDirectory) {
    Path pidFile = postgresDirectory.resolve("postmaster.pid");
    if (!Files.exists(pidFile)) {
      return;
    }
    try {
      long pid = readPid(pidFile);
      Optional<ProcessHandle> server =
          ProcessHandle.of(pid).filter(p -> isServerOf(p, postgresDirectory));
      if (server.isPresent()) {
        LOG.info("stopping PostgreSQL {}, left behind in {}", pid, postgresDirectory);
        interrupt(server.get());
      }
      Files.deleteIfExists(pidFile);
    } catch (IOException e) {
      throw EmbeddedStartException.notWritable(pidFile, e);
    }
  }

  /** Waits until a server that was told to stop has let go of its directory. */
  static void awaitStopped(Path postgresDirectory) {
    Path pidFile = postgresDirectory.resolve("postmaster.pid");
    try {
      if (Files.exists(pidFile)) {
        ProcessHandle.of(readPid(pidFile))
            .filter(p -> isServerOf(p, postgresDirectory))
            .ifPresent(OrphanedServer::await);
      }
    } catch (IOException e) {
      // It stopped between the two looks.
      LOG.debug("{} is gone", pidFile, e);
    }
  }

  private static long readPid(Path pidFile) throws IOException {
    List<String> lines = Files.readAllLines(pidFile);
    try {
      return lines.isEmpty() ? -1 : Long.parseLong(lines.get(0).strip());
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  private static boolean isServerOf(ProcessHandle process, Path postgresDirectory) {
    ProcessHandle.Info info = process.info();
    boolean postgres = info.command().map(c -> c.endsWith("/postgres")).orElse(false);
    // Where arguments can't be read (another user's process), the name alone has to do.
    return postgres
        && info.arguments()
            .map(a -> List.of(a).contains(postgresDirectory.toString()))
            .orElse(true);
  }

  /** SIGINT is PostgreSQL's fast shutdown; Java itself can only send SIGTERM, the patient one. */
  private static void interrupt(ProcessHandle server) throws IOException {
    Process kill =
        new ProcessBuilder("kill", "-INT", Long.toString(server.pid()))
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    kill.onExit().join();
    await(server);
  }

  private static void await(ProcessHandle server) {
    try {
      server.onExit().get(STOP_LIMIT.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw stillThere(server, e);
    } catch (ExecutionException | TimeoutException e) {
      throw stillThere(server, e);
    }
  }

  private static EmbeddedStartException stillThere(ProcessHandle server, Exception cause) {
    return new EmbeddedStartException(
        Reason.DIRECTORY_IN_USE,
        "PostgreSQL " + server.pid() + ", left behind, did not stop within " + STOP_LIMIT,
        cause);
  }
}
