package io.escapement.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.ledger.LedgerConfig;
import io.escapement.ledger.TopicNames;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import java.util.Map;

/**
 * The PostgreSQL and the Kafka that end-to-end tests run against. The system property {@code
 * servers} says which: {@code embedded} ones (the default), {@code containers}, or {@code external}
 * ones that exist.
 *
 * <p>A database, topics, a slot and logins that a test makes are named after {@link #name()}, so
 * that servers which others use too can be left as they were.
 */
final class TestServers implements AutoCloseable {

  /** Where servers come from. */
  enum Kind {
    EMBEDDED,
    CONTAINERS,
    EXTERNAL;

    /** What the build has chosen. */
    static Kind chosen() {
      return valueOf(System.getProperty("servers", "embedded").toUpperCase(Locale.ROOT));
    }
  }

  /**
   * How servers are reached.
   *
   * @param postgres a JDBC address up to and with the slash before the database's name
   * @param parameters what comes after the name, with the question mark before it, or nothing
   * @param user a superuser
   */
  record Addresses(
      String postgres, String parameters, String user, String password, String bootstrapServers) {}

  private final String name;
  private final Addresses addresses;
  private final AutoCloseable servers;

  TestServers(String name, Addresses addresses, AutoCloseable servers) {
    this.name = name;
    this.addresses = addresses;
    this.servers = servers;
  }

  /**
   * Starts the chosen ones, or finds them.
   *
   * @param scratch where embedded ones keep their data
   */
  static TestServers start(Path scratch) throws Exception {
    return switch (Kind.chosen()) {
      case EMBEDDED -> EmbeddedServers.start(scratch);
      case CONTAINERS -> ContainerServers.start();
      case EXTERNAL -> ExternalServers.use();
    };
  }

  /** What everything that a test makes here is named after; also a database that is there. */
  String name() {
    return name;
  }

  /** The topics of a prefix that is {@link #name()}. */
  TopicNames topics() {
    return new TopicNames(name);
  }

  /** The JDBC address of the database that is there. */
  String jdbcUrl() {
    return jdbcUrl(name);
  }

  /** The JDBC address of another database. */
  String jdbcUrl(String database) {
    return addresses.postgres() + database + addresses.parameters();
  }

  /** How to log in to a database as its owner. */
  LedgerConfig ledger(String database) {
    return LedgerConfig.of(jdbcUrl(database), addresses.user(), addresses.password());
  }

  String bootstrapServers() {
    return addresses.bootstrapServers();
  }

  /** The settings of a distribution that uses the database that is there. */
  Map<String, String> settings() {
    return Map.of(
        "ESCAPEMENT_LEDGER_URL", jdbcUrl(),
        "ESCAPEMENT_LEDGER_USER", addresses.user(),
        "ESCAPEMENT_LEDGER_PASSWORD", addresses.password(),
        "ESCAPEMENT_KAFKA_BOOTSTRAP_SERVERS", bootstrapServers(),
        "ESCAPEMENT_TOPICS_PREFIX", name,
        "ESCAPEMENT_RELAY_SLOT", name);
  }

  /** A distribution with these settings. */
  Distribution full(Path scratch) {
    return with(Distribution.full(scratch));
  }

  /** The one without embedded servers, with these settings. */
  Distribution slim(Path scratch) {
    return with(Distribution.slim(scratch));
  }

  private Distribution with(Distribution distribution) {
    settings().forEach(distribution::with);
    return distribution;
  }

  /** Runs statements in the database that is there. */
  void execute(String sql) throws SQLException {
    execute(name, sql);
  }

  /** Runs statements in a database. */
  void execute(String database, String sql) throws SQLException {
    try (Connection connection = connect(database);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** The one value that a query in a database answers with. */
  String text(String database, String sql) throws SQLException {
    try (Connection connection = connect(database);
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      assertThat(row.next()).as(sql).isTrue();
      return String.valueOf(row.getString(1));
    }
  }

  /**
   * Makes a login that must give a password. External servers are expected to ask for it; others
   * are told to.
   */
  void createLogin(String login, String password, String options) throws SQLException {
    execute("create role " + login + " " + options + " login password '" + password + "'");
    if (Kind.chosen() != Kind.EXTERNAL) {
      String file = text(name, "show hba_file");
      execute(
          "create temporary table access (n serial, line text);"
              + ("insert into access (line) values ('host all " + login + " all scram-sha-256');")
              + ("copy access (line) from '" + file + "' with (delimiter e'\\x01');")
              + ("copy (select line from access order by n) to '" + file + "'")
              + " with (delimiter e'\\x01');"
              + "select pg_reload_conf()");
    }
  }

  private Connection connect(String database) throws SQLException {
    return DriverManager.getConnection(jdbcUrl(database), addresses.user(), addresses.password());
  }

  @Override
  public void close() {
    try {
      servers.close();
    } catch (Exception e) {
      throw new IllegalStateException("the servers were not left as they should be", e);
    }
  }
}
