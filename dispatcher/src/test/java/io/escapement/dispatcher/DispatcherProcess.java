package io.escapement.dispatcher;

import io.escapement.dispatcher.relay.JavaProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A dispatcher in a JVM of its own. Its name is what PostgreSQL shows as its sessions' application.
 */
final class DispatcherProcess extends JavaProcess {

  private final Path stats;

  private DispatcherProcess(String name, Path directory, List<?> arguments) {
    super(name, directory.resolve(name + ".log"), DispatcherMain.class, arguments);
    this.stats = directory.resolve(name + ".stats");
  }

  static DispatcherProcess start(
      String name, DispatcherConfig c, Path directory, Class<? extends TaskHandler> handler) {
    String kafka =
        c.kafka().entrySet().stream()
            .map(property -> property.getKey() + "=" + property.getValue())
            .collect(Collectors.joining(";"));
    return new DispatcherProcess(
        name,
        directory,
        List.of(
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
            c.sweep().toMillis()));
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
    if (!isAlive()) {
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
}
