package io.escapement.ledger;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Objects;
import java.util.Properties;

/** Opens connections as the services need them, and says in one line why it can't. */
final class Pools {

  private Pools() {}

  /**
   * A pool whose connections carry a role and the timeouts that keep a stopped process from
   * stopping others.
   *
   * @throws LedgerUnavailableException with one line that names the setting and the cure
   */
  static HikariDataSource open(LedgerConfig config, Role role) {
    String session = sessionSettings(config, role);
    try (Connection probe = connect(config);
        Statement statement = probe.createStatement()) {
      statement.execute(session);
      statement.execute("select from escapement.settings");
    } catch (SQLException e) {
      throw unavailable(config, role, e);
    }
    HikariConfig pool = new HikariConfig();
    pool.setPoolName("ledger-" + role.sqlName());
    pool.setJdbcUrl(config.url());
    pool.setDataSourceProperties(driverProperties(config));
    pool.setMaximumPoolSize(config.poolSize());
    pool.setMinimumIdle(1);
    pool.setConnectionTimeout(config.connectTimeout().toMillis());
    pool.setInitializationFailTimeout(-1);
    pool.setConnectionInitSql(session);
    pool.setAutoCommit(true);
    return new HikariDataSource(pool);
  }

  /** One connection as the configured user, in no role. */
  static Connection connect(LedgerConfig config) throws SQLException {
    return DriverManager.getConnection(config.url(), driverProperties(config));
  }

  static LedgerUnavailableException unavailable(LedgerConfig config, SQLException e) {
    return unavailable(config, null, e);
  }

  private static Properties driverProperties(LedgerConfig config) {
    Properties p = new Properties();
    p.setProperty("user", config.user());
    p.setProperty("password", config.password());
    p.setProperty("ApplicationName", "escapement");
    p.setProperty(
        "connectTimeout", Long.toString(Math.max(1, config.connectTimeout().toSeconds())));
    // The answer to a statement that the server has ended long ago will not come any more.
    p.setProperty("socketTimeout", Long.toString(config.statementTimeout().toSeconds() + 15));
    p.setProperty("tcpKeepAlive", "true");
    return p;
  }

  private static String sessionSettings(LedgerConfig config, Role role) {
    long statementMillis = config.statementTimeout().toMillis();
    return "set role "
        + role.sqlName()
        + "; set statement_timeout = "
        + statementMillis
        + "; set lock_timeout = "
        + config.lockTimeout().toMillis()
        + "; set idle_in_transaction_session_timeout = "
        + statementMillis
        + "; set tcp_user_timeout = "
        + statementMillis
        + "; set client_connection_check_interval = 1000";
  }

  private static LedgerUnavailableException unavailable(
      LedgerConfig config, @org.jspecify.annotations.Nullable Role role, SQLException e) {
    String state = Objects.requireNonNullElse(e.getSQLState(), "");
    String line =
        switch (state) {
          case "28P01", "28000" ->
              "ledger.user, ledger.password: PostgreSQL refuses the login '"
                  + config.user()
                  + "' at "
                  + config.url()
                  + "; give the right user and password";
          case "3D000" ->
              "ledger.url: "
                  + config.url()
                  + " names a database that does not exist; create it (createdb) or name another";
          case "3F000", "42P01" ->
              "ledger.url: "
                  + config.url()
                  + " holds no ledger; run 'escapement migrate' against it first";
          case "22023", "42704" ->
              "ledger.url: the server at "
                  + config.url()
                  + " has no role "
                  + (role == null ? "" : role.sqlName() + " ")
                  + "yet; run 'escapement migrate' against it first";
          case "42501" ->
              "ledger.user: '"
                  + config.user()
                  + "' may not do that: "
                  + firstLine(e)
                  + "; grant the role"
                  + (role == null ? "" : " " + role.sqlName())
                  + " to it, or log in as its owner";
          default ->
              state.startsWith("08")
                  ? "ledger.url: no PostgreSQL answers at "
                      + config.url()
                      + " ("
                      + firstLine(e)
                      + "); start it or correct the address"
                  : "ledger.url: " + config.url() + ": " + firstLine(e);
        };
    return new LedgerUnavailableException(line, e);
  }

  private static String firstLine(SQLException e) {
    String message = String.valueOf(e.getMessage());
    return message.lines().findFirst().orElse("").strip();
  }
}
