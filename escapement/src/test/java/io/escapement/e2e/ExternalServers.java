package io.escapement.e2e;

import static org.awaitility.Awaitility.await;

import io.escapement.e2e.TestServers.Addresses;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;

/**
 * Servers that somebody else has started, which {@code servers.ledger-url}, {@code
 * servers.ledger-user}, {@code servers.ledger-password} and {@code servers.kafka} name. What a test
 * has made there is removed at its end; the roles of the ledger stay, and Kafka forgets consumer
 * groups by itself.
 */
final class ExternalServers {

  private static final String USUAL_USER = "postgres";

  private ExternalServers() {}

  static TestServers use() throws SQLException {
    String url = required("servers.ledger-url");
    Matcher parts = Pattern.compile("(jdbc:postgresql://[^/?]+/)([^/?]*)(\\?.*)?").matcher(url);
    if (!parts.matches()) {
      throw new IllegalArgumentException(
          "servers.ledger-url is '" + url + "'; write jdbc:postgresql://host:port/database");
    }
    Addresses addresses =
        new Addresses(
            parts.group(1),
            Objects.requireNonNullElse(parts.group(3), ""),
            System.getProperty("servers.ledger-user", USUAL_USER),
            System.getProperty("servers.ledger-password", ""),
            required("servers.kafka"));
    String name = "e2e_" + UUID.randomUUID().toString().substring(0, 8);
    Connection owner = DriverManager.getConnection(url, addresses.user(), addresses.password());
    execute(owner, "create database " + name);
    return new TestServers(
        name,
        addresses,
        () ->
            CloseAll.of(
                () -> removeTopics(addresses.bootstrapServers(), name),
                () -> removeDatabases(owner, name),
                owner));
  }

  private static void removeTopics(String bootstrapServers, String name) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrapServers))) {
      List<String> ours =
          admin.listTopics().names().get().stream()
              .filter(topic -> topic.startsWith(name))
              .toList();
      admin.deleteTopics(ours).all().get();
    }
  }

  private static String required(String property) {
    String value = System.getProperty(property, "");
    if (value.isEmpty()) {
      throw new IllegalArgumentException(
          "-Pexternal needs -D" + property + " (also -Dservers.ledger-url, -Dservers.kafka)");
    }
    return value;
  }

  private static void removeDatabases(Connection owner, String name) throws SQLException {
    String ours = "like '" + name.replace("_", "\\_") + "%'";
    // A server may not have noticed yet that a relay was killed.
    await()
        .atMost(Pipeline.LIMIT)
        .until(
            () ->
                names(
                    owner,
                    "select slot_name from pg_replication_slots, lateral"
                        + " (select pg_terminate_backend(active_pid)) ended where active and database "
                        + ours),
            List::isEmpty);
    for (String slot :
        names(owner, "select slot_name from pg_replication_slots where database " + ours)) {
      execute(owner, "select pg_drop_replication_slot('" + slot + "')");
    }
    for (String database : names(owner, "select datname from pg_database where datname " + ours)) {
      execute(owner, "drop database " + database + " with (force)");
    }
    for (String role : names(owner, "select rolname from pg_roles where rolname " + ours)) {
      execute(owner, "drop role " + role);
    }
  }

  private static List<String> names(Connection owner, String sql) throws SQLException {
    List<String> names = new ArrayList<>();
    try (Statement statement = owner.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      while (rows.next()) {
        names.add(rows.getString(1));
      }
    }
    return names;
  }

  private static void execute(Connection owner, String sql) throws SQLException {
    try (Statement statement = owner.createStatement()) {
      statement.execute(sql);
    }
  }
}
