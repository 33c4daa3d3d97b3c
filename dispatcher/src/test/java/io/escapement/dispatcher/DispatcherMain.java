package io.escapement.dispatcher;

import io.escapement.dispatcher.http.HttpChannel;
import io.escapement.dispatcher.http.HttpChannelFiles;
import io.escapement.dispatcher.relay.JavaProcess;
import io.escapement.ledger.LedgerConfig;
import io.escapement.ledger.TopicNames;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** A dispatcher as a process of its own. */
final class DispatcherMain {

  private DispatcherMain() {}

  /** Arguments: as {@link DispatcherProcess} gives them. */
  public static void main(String[] args) throws Exception {
    String name = args[0];
    Path directory = Path.of(args[1]);
    System.setProperty("test.process", name);
    System.setProperty("test.directory", args[1]);
    TaskHandler handler =
        Class.forName(args[2]).asSubclass(TaskHandler.class).getDeclaredConstructor().newInstance();
    Map<String, String> kafka = new HashMap<>();
    for (String property : List.of(args[7].split(";"))) {
      int equals = property.indexOf('=');
      kafka.put(property.substring(0, equals), property.substring(equals + 1));
    }
    DispatcherConfig config =
        new DispatcherConfig(
            LedgerConfig.of(args[3], args[4], args[5]).withPoolSize(Integer.parseInt(args[6])),
            kafka,
            new TopicNames(args[8]),
            List.of("default"),
            Integer.parseInt(args[9]),
            Integer.parseInt(args[10]),
            Integer.parseInt(args[11]),
            Duration.ofMillis(Long.parseLong(args[12])),
            Duration.ofMillis(Long.parseLong(args[13])),
            100,
            100,
            Duration.ofSeconds(10),
            new Discovery.Wheel(),
            LaneLimits.NONE,
            Outages.DEFAULT);
    Path set = directory.resolve("channels");
    Channels channels =
        Channels.of(
            Files.isDirectory(set)
                ? HttpChannelFiles.read(set, System::getenv).stream().map(HttpChannel::new).toList()
                : List.of());
    Dispatcher dispatcher = Dispatcher.start(config, Handlers.of(List.of(handler)), channels);
    ScheduledExecutorService reporter = Executors.newSingleThreadScheduledExecutor();
    var unused =
        reporter.scheduleWithFixedDelay(
            () -> report(dispatcher.stats(), directory.resolve(name + ".stats")),
            0,
            50,
            TimeUnit.MILLISECONDS);
    JavaProcess.endWithParent();
  }

  private static void report(DispatcherStats stats, Path file) {
    try {
      Path draft =
          Files.writeString(
              file.resolveSibling(file.getFileName() + ".draft"),
              stats.slots() + " " + stats.timers());
      Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
