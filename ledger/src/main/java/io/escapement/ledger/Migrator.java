package io.escapement.ledger;

import java.sql.Connection;
import java.sql.SQLException;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.output.MigrateResult;

/**
 * Brings a database's ledger to this version's schema.
 *
 * <p>Cost: seconds on an empty database, nothing on one that is current. Ordering: several
 * migrators wait for each other. Failure: {@link LedgerUnavailableException} in one line; a failed
 * migration leaves the version before it.
 */
public final class Migrator {

  private static final String SCHEMA = "escapement";

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
    try {
      MigrateResult result =
          Flyway.configure()
              .dataSource(config.url(), config.user(), config.password())
              .schemas(SCHEMA)
              .defaultSchema(SCHEMA)
              .createSchemas(true)
              .locations("classpath:io/escapement/ledger/migration")
              .validateMigrationNaming(true)
              .load()
              .migrate();
      return result.migrationsExecuted;
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
}
