package io.escapement.embedded;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A real PostgreSQL server as a child process, on loopback, with logical WAL.
 *
 * <p>Cost: 3 to 7 seconds to start. It works as root too. Thread rule: start and close from one
 * thread. Failure: the server outlives a {@code kill -9} of this JVM; the next start on the same
 * directory refuses while it still runs.
 */
public final class EmbeddedDatabase implements AutoCloseable {

  private static final Duration START_LIMIT = Duration.ofSeconds(90);

  private final EmbeddedPostgres server;

  private EmbeddedDatabase(EmbeddedPostgres server) {
    this.server = server;
  }

  /** Starts a throw-away server in a temporary directory, on a free port. */
  public static EmbeddedDatabase start() {
    return start(null, 0);
  }

  /**
   * Starts a server.
   *
   * @param directory where the data lives and stays; null for a temporary one, deleted on close
   * @param port the loopback port; 0 picks a free one
   */
  public static EmbeddedDatabase start(@Nullable Path directory, int port) {
    try {
      EmbeddedPostgres.Builder builder =
          EmbeddedPostgres.builder()
              .setPort(port)
              .setPGStartupWait(START_LIMIT)
              .setServerConfig("wal_level", "logical")
              .setServerConfig("max_connections", "200")
              .setServerConfig("max_wal_senders", "10")
              .setServerConfig("max_replication_slots", "10")
              .setServerConfig("max_slot_wal_keep_size", "1GB")
              .setServerConfig("shared_buffers", "256MB")
              .setServerConfig("fsync", "on")
              .setServerConfig("synchronous_commit", "on")
              .setServerConfig("timezone", "America/St_Johns");
      if (directory != null) {
        builder.setDataDirectory(directory).setCleanDataDirectory(false);
      }
      return new EmbeddedDatabase(builder.start());
    } catch (IOException e) {
      throw new UncheckedIOException("PostgreSQL did not start: " + e.getMessage(), e);
    }
  }

  /** The port that clients connect to. */
  public int port() {
    return server.getPort();
  }

  /** The JDBC address of one of its databases. */
  public String jdbcUrl(String database) {
    return "jdbc:postgresql://127.0.0.1:" + server.getPort() + "/" + database;
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
