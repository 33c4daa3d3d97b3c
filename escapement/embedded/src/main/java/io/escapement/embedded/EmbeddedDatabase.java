package io.escapement.embedded;

import io.escapement.embedded.EmbeddedStartException.Reason;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A real PostgreSQL server as a child process, on loopback, with logical WAL.
 *
 * <p>Cost: 3 to 7 seconds to start. It works as root too, where user namespaces are allowed. Thread
 * rule: start and close from one thread. Failure: {@link EmbeddedStartException}. The server
 * outlives a {@code kill -9} of this JVM; the next start on the same directory stops it first.
 */
public final class EmbeddedDatabase implements AutoCloseable {

  /** The login that every embedded server has; it needs no password from loopback. */
  public static final String USER = "postgres";

  private static final Logger LOG = LoggerFactory.getLogger(EmbeddedDatabase.class);
  private static final Duration START_LIMIT = Duration.ofSeconds(90);
  private static final int LOG_BYTES_READ = 64 * 1024;
  private static final String SERVER_VERSION = "18";

  private final EmbeddedPostgres server;
  private final @Nullable Path directory;

  private EmbeddedDatabase(EmbeddedPostgres server, @Nullable Path directory) {
    this.server = server;
    this.directory = directory;
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
    return start(directory, port, Map.of());
  }

  /**
   * Starts a server with settings of its own.
   *
   * @param settings override what is usual here, {@code wal_level} for example
   */
  public static EmbeddedDatabase start(
      @Nullable Path directory, int port, Map<String, String> settings) {
    int wanted = port == 0 ? Ports.free() : port;
    Path kept = directory == null ? null : directory.toAbsolutePath().normalize();
    if (kept != null) {
      OrphanedServer.stop(kept);
      checkVersion(kept);
    }
    // The server would be waited for on this port, and the other one's answer taken for its own.
    Ports.require(wanted, Reason.POSTGRES_PORT_TAKEN);
    Path log = kept == null ? null : logFile(kept);
    long logged = size(log);
    try {
      return new EmbeddedDatabase(builder(kept, wanted, settings).start(), kept);
    } catch (IOException | IllegalStateException e) {
      throw new EmbeddedStartException(
          Reason.SERVER_FAILED, "PostgreSQL did not start: " + complaint(log, logged, e), e);
    }
  }

  private static EmbeddedPostgres.Builder builder(
      @Nullable Path kept, int port, Map<String, String> settings) {
    EmbeddedPostgres.Builder builder =
        EmbeddedPostgres.builder()
            .setPort(port)
            .setPGStartupWait(START_LIMIT)
            .setOverrideWorkingDirectory(binariesDirectory())
            // Whatever the environment's locale, and whether or not it is installed.
            .setLocaleConfig("locale", "C")
            .setServerConfig("wal_level", "logical")
            .setServerConfig("max_connections", "200")
            .setServerConfig("max_wal_senders", "10")
            .setServerConfig("max_replication_slots", "10")
            .setServerConfig("max_slot_wal_keep_size", "1GB")
            .setServerConfig("shared_buffers", "256MB")
            // A throw-away server has to survive killed processes, not a power cut.
            .setServerConfig("fsync", kept == null ? "off" : "on")
            .setServerConfig("synchronous_commit", "on")
            // In tests the server's zone is nobody's, so that reliance on it shows.
            .setServerConfig("timezone", kept == null ? "America/St_Johns" : "UTC");
    settings.forEach(builder::setServerConfig);
    if (kept != null) {
      ProcessBuilder.Redirect log = ProcessBuilder.Redirect.appendTo(logFile(kept).toFile());
      builder
          .setDataDirectory(kept)
          .setCleanDataDirectory(false)
          .setOutputRedirector(log)
          .setErrorRedirector(log);
    }
    return builder;
  }

  /** The port that clients connect to. */
  public int port() {
    return server.getPort();
  }

  /** The JDBC address of one of its databases. */
  public String jdbcUrl(String database) {
    return "jdbc:postgresql://127.0.0.1:" + server.getPort() + "/" + database;
  }

  /** Creates a database unless it exists. */
  public void createDatabase(String name) {
    try (Connection connection = server.getPostgresDatabase().getConnection();
        PreparedStatement look =
            connection.prepareStatement("select from pg_database where datname = ?");
        Statement create = connection.createStatement()) {
      look.setString(1, name);
      try (ResultSet found = look.executeQuery()) {
        if (!found.next()) {
          create.execute("create database " + create.enquoteIdentifier(name, true));
        }
      }
    } catch (SQLException e) {
      throw new EmbeddedStartException(
          Reason.SERVER_FAILED, "database " + name + " could not be created: " + e.getMessage(), e);
    }
  }

  /** Runs statements in one of its databases, as its owner. */
  public void execute(String database, String sql) {
    try (Connection connection = server.getDatabase(USER, database).getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException("the embedded database refuses: " + e.getMessage(), e);
    }
  }

  /** The one number that a query in one of its databases answers with. */
  public long number(String database, String sql) {
    try (Connection connection = server.getDatabase(USER, database).getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      if (!row.next()) {
        throw new IllegalStateException("no row answers " + sql);
      }
      return row.getLong(1);
    } catch (SQLException e) {
      throw new IllegalStateException("the embedded database refuses: " + e.getMessage(), e);
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    // The stop above gives up waiting after five seconds; a checkpoint may take longer.
    if (directory != null) {
      OrphanedServer.awaitStopped(directory);
    }
  }

  /** Beside the data, not in it: an empty directory is what initdb wants. */
  static Path logFile(Path kept) {
    return kept.resolveSibling(kept.getFileName() + ".log");
  }

  /** A directory per user: what root has unpacked, others may not be able to read. */
  private static File binariesDirectory() {
    return Path.of(
            System.getProperty("java.io.tmpdir"), "escapement-" + System.getProperty("user.name"))
        .toFile();
  }

  private static void checkVersion(Path kept) {
    Path versionFile = kept.resolve("PG_VERSION");
    try {
      if (Files.exists(versionFile)) {
        String version = Files.readString(versionFile).strip();
        if (!version.equals(SERVER_VERSION)) {
          throw new EmbeddedStartException(
              Reason.DIRECTORY_OF_OTHER_VERSION,
              kept + " was written by PostgreSQL " + version + "; this is " + SERVER_VERSION);
        }
      }
    } catch (IOException e) {
      throw EmbeddedStartException.notWritable(versionFile, e);
    }
  }

  private static long size(@Nullable Path file) {
    return file == null ? 0 : file.toFile().length();
  }

  /** What the server complained of since a place in its log: it names the cause. */
  private static String complaint(@Nullable Path log, long since, Exception e) {
    if (log != null && Files.exists(log)) {
      try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "r")) {
        file.seek(since);
        byte[] said = new byte[(int) Math.min(file.length() - since, LOG_BYTES_READ)];
        file.readFully(said);
        List<String> fatal =
            new String(said, StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.contains("FATAL:") || line.contains("could not"))
                .toList();
        if (!fatal.isEmpty()) {
          return fatal.get(0) + " (see " + log + ")";
        }
      } catch (IOException unreadable) {
        LOG.debug("{} can't be read", log, unreadable);
      }
    }
    return String.valueOf(e.getMessage());
  }
}
