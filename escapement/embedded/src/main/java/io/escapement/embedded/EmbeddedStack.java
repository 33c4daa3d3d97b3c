package io.escapement.embedded;

import io.escapement.embedded.EmbeddedStartException.Reason;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * A PostgreSQL server with one database, and a Kafka broker, in one data directory.
 *
 * <p>Cost: both start at once, in 5 to 10 seconds. Ordering: the broker stops before the database.
 * Thread rule: start and close from one thread. Failure: {@link EmbeddedStartException}, and then
 * nothing is left running.
 */
public final class EmbeddedStack implements AutoCloseable {

  /**
   * What to start.
   *
   * @param directory where all data lives
   * @param database the database that is created in PostgreSQL
   * @param postgresPort loopback port; 0 picks a free one
   * @param kafkaPort loopback port; 0 picks a free one
   * @param temporary whether the directory is deleted on close
   */
  public record Config(
      Path directory, String database, int postgresPort, int kafkaPort, boolean temporary) {}

  /** One class of each server; a distribution may have been made without them. */
  private static final List<String> SERVERS =
      List.of(
          "io.zonky.test.db.postgres.embedded.EmbeddedPostgres", "kafka.server.KafkaRaftServer");

  private final Config config;
  private final DataDirectory directory;
  private final EmbeddedDatabase database;
  private final EmbeddedBroker broker;

  private EmbeddedStack(
      Config config, DataDirectory directory, EmbeddedDatabase database, EmbeddedBroker broker) {
    this.config = config;
    this.directory = directory;
    this.database = database;
    this.broker = broker;
  }

  /** Starts both servers. */
  public static EmbeddedStack start(Config config) {
    return start(config, Map.of());
  }

  /**
   * Starts both servers.
   *
   * @param settings of the database server, beside what is usual
   */
  public static EmbeddedStack start(Config config, Map<String, String> settings) {
    requireServers();
    DataDirectory directory = DataDirectory.hold(config.directory());
    Path postgres = directory.sub("postgres");
    Path kafka = directory.sub("kafka");
    try {
      OrphanedServer.stop(postgres);
      // Before anything starts: what has started would have to be stopped again.
      Ports.require(config.postgresPort(), Reason.POSTGRES_PORT_TAKEN);
      Ports.require(config.kafkaPort(), Reason.KAFKA_PORT_TAKEN);
    } catch (EmbeddedStartException e) {
      letGo(e, config, directory);
      throw e;
    }
    return start(config, settings, directory, postgres, kafka);
  }

  private static EmbeddedStack start(
      Config config,
      Map<String, String> settings,
      DataDirectory directory,
      Path postgres,
      Path kafka) {
    CompletableFuture<EmbeddedDatabase> databaseStart =
        CompletableFuture.supplyAsync(
            () -> EmbeddedDatabase.start(postgres, config.postgresPort(), settings),
            EmbeddedStack::inThread);
    EmbeddedBroker broker = null;
    try {
      broker = EmbeddedBroker.start(kafka, config.kafkaPort());
      EmbeddedDatabase database = databaseStart.join();
      database.createDatabase(config.database());
      return new EmbeddedStack(config, directory, database, broker);
    } catch (RuntimeException e) {
      undo(e, broker, databaseStart);
      letGo(e, config, directory);
      throw e instanceof CompletionException wrapped ? unwrap(wrapped) : e;
    }
  }

  private static void requireServers() {
    for (String server : SERVERS) {
      try {
        Class.forName(server, false, EmbeddedStack.class.getClassLoader());
      } catch (ClassNotFoundException e) {
        throw new EmbeddedStartException(
            Reason.SERVERS_LEFT_OUT, "no PostgreSQL and no Kafka broker come with this", e);
      }
    }
  }

  /** The JDBC address of the database. */
  public String jdbcUrl() {
    return database.jdbcUrl(config.database());
  }

  /** What Kafka clients put into {@code bootstrap.servers}. */
  public String bootstrapServers() {
    return broker.bootstrapServers();
  }

  /** The database server's port. */
  public int postgresPort() {
    return database.port();
  }

  /** Runs statements in the database, as its owner: for tables of an application. */
  public void execute(String sql) {
    database.execute(config.database(), sql);
  }

  /** The one number that a query in the database answers with. */
  public long number(String sql) {
    return database.number(config.database(), sql);
  }

  /** Where the data lives. */
  public Path directory() {
    return directory.path();
  }

  @Override
  public void close() throws IOException {
    try (DataDirectory held = directory) {
      broker.close();
      database.close();
      if (config.temporary()) {
        held.delete();
      }
    }
  }

  private static void inThread(Runnable work) {
    Thread.ofPlatform().daemon().name("postgres-start").start(work);
  }

  private static RuntimeException unwrap(CompletionException wrapped) {
    return wrapped.getCause() instanceof RuntimeException cause
        ? cause
        : new EmbeddedStartException(Reason.SERVER_FAILED, "PostgreSQL did not start", wrapped);
  }

  private static void undo(
      RuntimeException cause,
      @Nullable EmbeddedBroker broker,
      CompletableFuture<EmbeddedDatabase> databaseStart) {
    try {
      if (broker != null) {
        broker.close();
      }
      EmbeddedDatabase started = databaseStart.exceptionally(failed -> null).join();
      if (started != null) {
        started.close();
      }
    } catch (IOException | RuntimeException e) {
      cause.addSuppressed(e);
    }
  }

  private static void letGo(RuntimeException cause, Config config, DataDirectory directory) {
    try (DataDirectory held = directory) {
      if (config.temporary()) {
        held.delete();
      }
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
  }
}
