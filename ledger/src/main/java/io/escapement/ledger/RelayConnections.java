package io.escapement.ledger;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Properties;

/** Opens the relay's connections and says in one line what keeps one from being opened. */
final class RelayConnections {

  private static final String MAY_NOT = "42501";

  private final LedgerConfig config;

  RelayConnections(LedgerConfig config) {
    this.config = config;
  }

  /** A connection for statements; an answer that takes longer than the limit breaks it. */
  Connection ordinary(Duration answerLimit) {
    Properties properties = common();
    properties.setProperty("socketTimeout", seconds(answerLimit));
    return open(properties);
  }

  /** A connection that speaks the replication protocol; it may wait long for an answer. */
  Connection replication() {
    Properties properties = common();
    properties.setProperty("replication", "database");
    properties.setProperty("preferQueryMode", "simple");
    properties.setProperty("assumeMinServerVersion", "15");
    return open(properties);
  }

  private Properties common() {
    Properties properties = new Properties();
    properties.setProperty("user", config.user());
    properties.setProperty("password", config.password());
    properties.setProperty("ApplicationName", "escapement relay");
    properties.setProperty("connectTimeout", seconds(config.connectTimeout()));
    properties.setProperty("loginTimeout", seconds(config.connectTimeout()));
    properties.setProperty("tcpKeepAlive", "true");
    return properties;
  }

  private Connection open(Properties properties) {
    try {
      return DriverManager.getConnection(config.url(), properties);
    } catch (SQLException e) {
      throw unavailable(e);
    }
  }

  private LedgerUnavailableException unavailable(SQLException e) {
    if (MAY_NOT.equals(e.getSQLState())) {
      return new LedgerUnavailableException(
          "ledger.user: '"
              + config.user()
              + "' may not replicate; alter role \""
              + config.user()
              + "\" replication",
          e);
    }
    return Pools.unavailable(config, e);
  }

  private static String seconds(Duration duration) {
    return Long.toString(Math.max(1, duration.toSeconds()));
  }
}
