package io.escapement.ledger;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.flywaydb.database.postgresql.PostgreSQLConfigurationExtension;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings a database's ledger to this version's schema.
 *
 * <p>Cost: seconds on an empty database, nothing on one that is current. Ordering: several
 * migrators wait for each other. Work may go on beside it: no lock is waited for longer than two
 * seconds, and what could not be had is tried again, {@value #MAX_TRIES} times. Failure: {@link
 * LedgerUnavailableException} in one line; a failed migration leaves the version before it.
 */
public final class Migrator {

  private static final Logger LOG = LoggerFactory.getLogger(Migrator.class);
  private static final String SCHEMA = "escapement";

  /** Whoever wants the lock that a migration waits for waits as long. */
  private static final Duration LOCK_TIMEOUT = Duration.ofSeconds(2);

  private static final Duration PAUSE = Duration.ofMillis(500);
  private static final int MAX_TRIES = 60;

  /** Lock timeout, deadlock. */
  private static final Set<String> UNDONE = Set.of("55P03", "40P01");

  private Migrator() {}

  /**
   * Migrates.
   *
   * @param config its user must be allowed to create schemas, roles and publications
   * @return how many migrations were applied; 0 if the schema was current
   */
  public static int migrate(LedgerConfig config) {
    try (Connection probe = Pools.connect(config)) {
      int version = probe.getMetaData().getDatabaseMajorVersion();
      if (version < 15) {
        throw new LedgerUnavailableException(
            "ledger.url: PostgreSQL " + version + " is too old; use 15 or newer");
      }
    } catch (SQLException e) {
      throw Pools.unavailable(config, e);
    }
    FluentConfiguration settings =
        Flyway.configure()
            .dataSource(config.url(), config.user(), config.password())
            .initSql("set lock_timeout = '" + LOCK_TIMEOUT.toMillis() + "ms'")
            .schemas(SCHEMA)
            .defaultSchema(SCHEMA)
            .createSchemas(true)
            .locations("classpath:io/escapement/ledger/migration")
            .validateMigrationNaming(true);
    // Its lock would otherwise be held by a transaction, and an index that is built concurrently
    // waits for all transactions.
    settings
        .getConfigurationExtension(PostgreSQLConfigurationExtension.class)
        .setTransactionalLock(false);
    // Another migrator may be building an index: it is waited for.
    settings.lockRetryCount(-1);
    Flyway flyway = settings.load();
    try {
      return migrate(flyway);
    } catch (FlywayException e) {
      Throwable cause = e;
      while (cause.getCause() != null) {
        cause = cause.getCause();
      }
      throw new LedgerUnavailableException(
          "ledger.url: the schema of "
              + config.url()
              + " could not be migrated: "
              + String.valueOf(cause.getMessage()).lines().findFirst().orElse("")
              + "; the user '"
              + config.user()
              + "' must own the database and be allowed to create roles",
          e);
    }
  }

  /** Gives way to running work again and again, so that nobody waits long behind a migration. */
  private static int migrate(Flyway flyway) {
    for (int tries = 1; ; tries++) {
      if (Arrays.stream(flyway.info().all()).anyMatch(one -> one.getState().isFailed())) {
        // What failed outside of a transaction is noted as failed, and can be done over.
        flyway.repair();
      }
      try {
        return flyway.migrate().migrationsExecuted;
      } catch (FlywayException e) {
        if (tries == MAX_TRIES || !UNDONE.contains(sqlState(e))) {
          throw e;
        }
        LOG.warn("the migration waited too long for a lock and gives way; it will be tried again");
        LockSupport.parkNanos(PAUSE.toNanos());
      }
    }
  }

  private static String sqlState(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException sql && sql.getSQLState() != null) {
        return sql.getSQLState();
      }
    }
    return "";
  }
}
