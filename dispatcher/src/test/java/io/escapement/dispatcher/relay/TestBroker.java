package io.escapement.dispatcher.relay;

import io.escapement.embedded.EmbeddedBroker;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** One broker that all tests of a JVM share; it ends with the JVM. */
public final class TestBroker {

  private TestBroker() {}

  /** What clients put into {@code bootstrap.servers}. */
  public static String bootstrapServers() {
    return Server.INSTANCE.bootstrapServers();
  }

  /** Started by the first test that needs it. */
  private static final class Server {
    static final EmbeddedBroker INSTANCE = start();

    private static EmbeddedBroker start() {
      try {
        Path directory = Files.createTempDirectory("relay-test-kafka");
        // A killed member of a group is missed at once if a test wants it.
        EmbeddedBroker broker =
            EmbeddedBroker.start(directory, 0, Map.of("group.min.session.timeout.ms", "500"));
        Runtime.getRuntime()
            .addShutdownHook(
                new Thread(
                    () -> {
                      broker.close();
                      delete(directory);
                    }));
        return broker;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static void delete(Path directory) {
      try (Stream<Path> files = Files.walk(directory)) {
        List<Path> deepestFirst = files.sorted(Comparator.reverseOrder()).toList();
        for (Path file : deepestFirst) {
          Files.deleteIfExists(file);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
