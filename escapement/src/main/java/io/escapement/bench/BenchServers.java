package io.escapement.bench;

import io.escapement.config.Config;
import io.escapement.config.Key;
import io.escapement.embedded.EmbeddedDatabase;
import io.escapement.embedded.EmbeddedStack;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The PostgreSQL and the Kafka that a benchmark uses: its own, or given ones. On either, every case
 * gets a database and topics of its own, which are removed after it.
 *
 * <p>Thread rule: one thread.
 */
public final class BenchServers implements AutoCloseable {

  private static final String DATABASE = "escapement";

  private final Config config;
  private final Path scratch;
  private final @Nullable EmbeddedStack stack;
  private final String run = Long.toString(System.currentTimeMillis(), Character.MAX_RADIX);
  private int worlds;

  private BenchServers(Config config, Path scratch, @Nullable EmbeddedStack stack) {
    this.config = config;
    this.scratch = scratch;
    this.stack = stack;
  }

  /**
   * Starts servers for the benchmark.
   *
   * @param directory where their data lives; null for a temporary one
   * @param settings of the database server, beside what is usual
   */
  public static BenchServers embedded(
      Config config, @Nullable Path directory, Map<String, String> settings) throws IOException {
    Path scratch = Files.createTempDirectory("escapement-bench");
    Path data = directory == null ? scratch.resolve("data") : directory;
    EmbeddedStack stack =
        EmbeddedStack.start(
            new EmbeddedStack.Config(
                data.toAbsolutePath().normalize(), DATABASE, 0, 0, directory == null),
            settings);
    Config at = config.at(stack.jdbcUrl(), EmbeddedDatabase.USER, stack.bootstrapServers());
    return new BenchServers(at, scratch, stack);
  }

  /** Uses those that the settings name. */
  public static BenchServers given(Config config) throws IOException {
    return new BenchServers(config, Files.createTempDirectory("escapement-bench"), null);
  }

  /** A clean ledger and topics, with more settings. */
  BenchWorld world(List<BenchWorld.Assignment> more, Patience patience) {
    worlds++;
    String name = "escapement_bench_" + run + "_" + worlds;
    Config own = config.with(Key.TOPICS_PREFIX, name).with(Key.RELAY_SLOT, name);
    for (BenchWorld.Assignment assignment : more) {
      own = own.with(assignment.key(), assignment.value());
    }
    return BenchWorld.create(own, name, scratch, patience);
  }

  @Override
  public void close() throws IOException {
    try {
      if (stack != null) {
        stack.close();
      }
    } finally {
      delete(scratch);
    }
  }

  private static void delete(Path directory) throws IOException {
    List<Path> deepestFirst;
    try (Stream<Path> all = Files.walk(directory)) {
      deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path path : deepestFirst) {
      Files.deleteIfExists(path);
    }
  }
}
