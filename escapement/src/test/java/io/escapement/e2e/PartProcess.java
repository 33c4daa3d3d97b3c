package io.escapement.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.escapement.e2e.Distribution.Result;
import io.escapement.e2e.Distribution.Started;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A part that runs as a process of its own until it is stopped or killed. */
final class PartProcess implements AutoCloseable {

  private static final Duration START_LIMIT = Duration.ofSeconds(90);
  private static final long STOP_LIMIT_SECONDS = 60;

  private final Started started;

  private PartProcess(Started started) {
    this.started = started;
  }

  /** Starts a command and waits until it says that it is ready. */
  static PartProcess start(Distribution distribution, String ready, String... arguments)
      throws IOException {
    PartProcess part = new PartProcess(distribution.start(arguments));
    boolean up = false;
    try {
      await(String.join(" ", arguments))
          .atMost(START_LIMIT)
          .until(() -> part.said().contains(ready) || !part.started.process().isAlive());
      assertThat(part.started.process().isAlive()).as(part.started.read().toString()).isTrue();
      up = true;
      return part;
    } finally {
      if (!up) {
        part.close();
      }
    }
  }

  /** What it has printed so far. */
  String said() throws IOException {
    return started.read().out();
  }

  /** Kills it without a word, as {@code kill -9} does. */
  void kill() throws InterruptedException {
    started.process().destroyForcibly().waitFor();
  }

  /** Asks it to stop, and waits until it has. */
  Result stop() throws IOException, InterruptedException {
    signal();
    assertThat(started.process().waitFor(STOP_LIMIT_SECONDS, TimeUnit.SECONDS))
        .as("it stops: %s", started.read())
        .isTrue();
    return started.read();
  }

  /** Sends SIGTERM. */
  void signal() {
    started.process().destroy();
  }

  long pid() {
    return started.process().pid();
  }

  @Override
  public void close() {
    started.process().destroyForcibly().onExit().join();
  }
}
