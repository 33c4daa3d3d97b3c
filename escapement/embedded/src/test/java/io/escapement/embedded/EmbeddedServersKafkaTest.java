package io.escapement.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedServersKafkaTest {

  @Test
  void aBrokerStartedAgainOnItsDirectoryStillHasItsTopics(@TempDir Path directory)
      throws Exception {
    try (EmbeddedBroker broker = EmbeddedBroker.start(directory, 0);
        Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
      admin.createTopics(List.of(new NewTopic("kept", 3, (short) 1))).all().get();
    }
    try (EmbeddedBroker broker = EmbeddedBroker.start(directory, 0);
        Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
      assertThat(admin.listTopics().names().get()).contains("kept");
    }
  }

  @Test
  void theDatabaseSpeaksLogicalReplication() throws Exception {
    try (EmbeddedDatabase database = EmbeddedDatabase.start();
        Connection connection =
            DriverManager.getConnection(database.jdbcUrl("postgres"), "postgres", "postgres");
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("show wal_level")) {
      assertThat(row.next()).isTrue();
      assertThat(row.getString(1)).isEqualTo("logical");
    }
  }
}
