package io.escapement.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.escapement.embedded.EmbeddedStartException.Reason;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedStackKafkaTest {

  @TempDir private Path directory;

  @Test
  void whatWasCommittedIsThereAfterARestart() throws Exception {
    try (EmbeddedStack stack = EmbeddedStack.start(kept(0, 0))) {
      execute(stack.jdbcUrl(), "create table kept as select 42 as answer");
      assertThatThrownBy(() -> EmbeddedStack.start(kept(0, 0)))
          .isInstanceOf(EmbeddedStartException.class)
          .hasMessageContaining("in use by process " + ProcessHandle.current().pid())
          .extracting("reason")
          .isEqualTo(Reason.DIRECTORY_IN_USE);
    }
    try (EmbeddedStack stack = EmbeddedStack.start(kept(0, 0))) {
      assertThat(answer(stack.jdbcUrl(), "select answer from kept")).isEqualTo(42);
    }
  }

  @Test
  void aServerThatAKilledProcessLeftBehindIsStoppedFirst() throws Exception {
    Path postgres = directory.resolve("postgres");
    Files.createDirectories(postgres);
    int port = OrphanMaker.startAndKill(postgres);
    try (EmbeddedDatabase next = EmbeddedDatabase.start(postgres, port)) {
      assertThat(answer(next.jdbcUrl("postgres"), "select 42")).isEqualTo(42);
    }
  }

  @Test
  void aPidFileWhoseProcessIsSomethingElseDoesNotStandInTheWay() throws Exception {
    Path postgres = directory.resolve("postgres");
    Files.createDirectories(postgres);
    EmbeddedDatabase.start(postgres, 0).close();
    Files.writeString(postgres.resolve("postmaster.pid"), ProcessHandle.current().pid() + "\n");
    try (EmbeddedDatabase next = EmbeddedDatabase.start(postgres, 0)) {
      assertThat(answer(next.jdbcUrl("postgres"), "select 42")).isEqualTo(42);
    }
  }

  @Test
  void aTakenPortIsRefusedAndNamed() throws Exception {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = other.getLocalPort();
      assertThatThrownBy(() -> EmbeddedStack.start(kept(port, 0)))
          .hasMessageContaining("port " + port)
          .extracting("reason")
          .isEqualTo(Reason.POSTGRES_PORT_TAKEN);
      assertThatThrownBy(() -> EmbeddedStack.start(kept(0, port)))
          .hasMessageContaining("port " + port)
          .extracting("reason")
          .isEqualTo(Reason.KAFKA_PORT_TAKEN);
    }
  }

  @Test
  void aDirectoryThatCannotBeMadeIsRefused() throws Exception {
    Path file = Files.createFile(directory.resolve("file"));
    EmbeddedStack.Config config =
        new EmbeddedStack.Config(file.resolve("below"), "escapement", 0, 0, false);
    assertThatThrownBy(() -> EmbeddedStack.start(config))
        .extracting("reason")
        .isEqualTo(Reason.DIRECTORY_NOT_WRITABLE);
  }

  @Test
  void dataOfAnotherVersionIsRefusedAndLeftAlone() throws Exception {
    Path postgres = Files.createDirectories(directory.resolve("postgres"));
    Files.writeString(postgres.resolve("PG_VERSION"), "9.6\n");
    assertThatThrownBy(() -> EmbeddedDatabase.start(postgres, 0))
        .hasMessageContaining("PostgreSQL 9.6")
        .extracting("reason")
        .isEqualTo(Reason.DIRECTORY_OF_OTHER_VERSION);
    assertThat(postgres.resolve("PG_VERSION")).hasContent("9.6\n");
  }

  @Test
  void aTemporaryStackLeavesNothingBehind() throws Exception {
    Path temporary = directory.resolve("temporary");
    EmbeddedStack.start(new EmbeddedStack.Config(temporary, "escapement", 0, 0, true)).close();
    assertThat(temporary).doesNotExist();
  }

  private EmbeddedStack.Config kept(int postgresPort, int kafkaPort) {
    return new EmbeddedStack.Config(directory, "escapement", postgresPort, kafkaPort, false);
  }

  private static void execute(String url, String sql) throws Exception {
    try (Connection connection = DriverManager.getConnection(url, EmbeddedDatabase.USER, "");
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static int answer(String url, String sql) throws Exception {
    try (Connection connection = DriverManager.getConnection(url, EmbeddedDatabase.USER, "");
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      assertThat(row.next()).isTrue();
      return row.getInt(1);
    }
  }
}
