package io.escapement.ledger.bench;

import io.escapement.ledger.LedgerConfig;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;

/**
 * Connections as the owner, without a role and without limits, and the statements of this package.
 */
final class BenchSql {

  private BenchSql() {}

  /** The text of a statement. */
  static String load(String name) {
    try (InputStream file = BenchSql.class.getResourceAsStream(name + ".sql")) {
      if (file == null) {
        throw new IllegalStateException("the SQL file bench/" + name + ".sql is missing");
      }
      return new String(file.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Connection connect(LedgerConfig config) throws SQLException {
    Properties p = new Properties();
    p.setProperty("user", config.user());
    p.setProperty("password", config.password());
    p.setProperty("ApplicationName", "escapement bench");
    p.setProperty("tcpKeepAlive", "true");
    return DriverManager.getConnection(config.url(), p);
  }

  static void run(Connection connection, String name) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(load(name));
    }
  }

  /** The one number that a statement with at most one text parameter answers with. */
  static long number(Connection connection, String name, String... parameters) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(load(name))) {
      for (int i = 0; i < parameters.length; i++) {
        statement.setString(i + 1, parameters[i]);
      }
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        return row.getLong(1);
      }
    }
  }

  /** Runs the statement that another one makes for a database's name. */
  static void runMade(Connection connection, String name, String database) throws SQLException {
    try (PreparedStatement made = connection.prepareStatement(load(name));
        Statement statement = connection.createStatement()) {
      made.setString(1, database);
      try (ResultSet row = made.executeQuery()) {
        row.next();
        statement.execute(row.getString(1));
      }
    }
  }
}
