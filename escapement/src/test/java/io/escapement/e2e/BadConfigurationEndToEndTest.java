package io.escapement.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.e2e.Distribution.Result;
import io.escapement.embedded.EmbeddedDatabase;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each mistake gets one line that names the setting and the cure, and no stack trace. */
class BadConfigurationEndToEndTest {

  @TempDir private static Path data;
  private static TestServers servers;
  private static String login;

  @TempDir private Path scratch;
  private Distribution escapement;

  @BeforeAll
  static void startServers() throws Exception {
    servers = TestServers.start(data);
    login = servers.name() + "_secured";
    servers.createLogin(login, "right", "superuser");
    servers.execute("create database " + servers.name() + "_empty");
    Result migrated = servers.full(data).run("migrate", "--skip-topics");
    assertThat(migrated.exit()).as(migrated.err()).isZero();
  }

  @AfterAll
  static void stopServers() throws Exception {
    CloseAll.of(servers);
  }

  @BeforeEach
  void assembled() {
    escapement = servers.full(scratch);
  }

  @Test
  void aMisspeltFlag() throws Exception {
    expect(
        2,
        "unknown option --leger-url; did you mean --ledger-url?"
            + " (escapement status --help shows what there is)",
        "status",
        "--leger-url=x");
  }

  @Test
  void aMisspeltCommand() throws Exception {
    expect(
        2,
        "unknown argument statsu; did you mean status? (escapement --help shows what there is)",
        "statsu");
  }

  @Test
  void aMisspeltSettingInTheFile() throws Exception {
    Path file = Files.writeString(scratch.resolve("a.properties"), "leger.url=x\n");
    expect(
        2,
        "unknown setting leger.url (from " + file + "); did you mean ledger.url?",
        "status",
        "--config=" + file);
  }

  @Test
  void aMisspeltSettingInTheEnvironment() throws Exception {
    escapement.with("ESCAPEMENT_LEGER_URL", "x");
    expect(
        2,
        "unknown setting ESCAPEMENT_LEGER_URL in the environment;"
            + " did you mean ESCAPEMENT_LEDGER_URL?",
        "status");
  }

  @Test
  void aValueThatDoesNotFit() throws Exception {
    expect(
        2,
        "ledger.pool is 'many' (given by --ledger-pool); write a whole number from 1 to 200",
        "status",
        "--ledger-pool=many");
  }

  @Test
  void aTopicThatIsToHoldAndIsNoneOfRequests() throws Exception {
    String requests = servers.topics().requests();
    String receipts = servers.topics().receipts();
    expect(
        2,
        "ingest.hold-topics (given by --ingest-hold-topics) names '"
            + receipts
            + "', which is no requests topic; name "
            + requests
            + " or topics that begin with "
            + requests
            + ".",
        "ingest",
        "--ingest-hold-topics=" + requests + "," + receipts);
  }

  @Test
  void settingsThatContradictEachOther() throws Exception {
    Result result = escapement.run("dispatch", "--dispatcher-threads=30", "--ledger-pool=20");
    assertThat(result.exit()).isEqualTo(2);
    assertOneLine(result).contains("ledger.pool is 20", "dispatcher.threads");
  }

  @Test
  void noDatabase() throws Exception {
    int port = freePort();
    Result result =
        escapement.run(
            "status", "--ledger-url=jdbc:postgresql://127.0.0.1:" + port + "/escapement");
    assertThat(result.exit()).isEqualTo(1);
    assertOneLine(result)
        .startsWith("escapement: ledger.url: no PostgreSQL answers at")
        .contains("127.0.0.1:" + port)
        .endsWith("start it or correct the address");
  }

  @Test
  void theWrongPassword() throws Exception {
    escapement.with("ESCAPEMENT_LEDGER_PASSWORD", "wrong");
    expect(
        1,
        "ledger.user, ledger.password: PostgreSQL refuses the login '"
            + login
            + "' at "
            + servers.jdbcUrl()
            + "; give the right user and password",
        "status",
        "--ledger-user=" + login);
    escapement.with("ESCAPEMENT_LEDGER_PASSWORD", "right");
    assertThat(escapement.run("status", "--ledger-user=" + login).exit()).isZero();
  }

  @Test
  void noSuchDatabase() throws Exception {
    Result result = escapement.run("status", "--ledger-url=" + servers.jdbcUrl("absent"));
    assertThat(result.exit()).isEqualTo(1);
    assertOneLine(result).contains("ledger.url", "absent", "does not exist; create it");
  }

  @Test
  void aLedgerThatWasNotMigrated() throws Exception {
    String empty = "--ledger-url=" + servers.jdbcUrl(servers.name() + "_empty");
    Result result = escapement.run("ingest", empty, "--topics-prefix=x");
    assertThat(result.exit()).isEqualTo(1);
    // The topics come first; with them, it is the schema.
    assertOneLine(result).contains("x.requests", "escapement migrate");
    Result status = escapement.run("status", empty);
    assertThat(status.exit()).isEqualTo(1);
    assertOneLine(status).contains("ledger.url", "run 'escapement migrate'");
  }

  @Test
  void noBroker() throws Exception {
    String servers = "127.0.0.1:" + freePort();
    for (String part : new String[] {"ingest", "relay", "dispatch"}) {
      expect(
          1,
          "kafka.bootstrap-servers (given by --kafka-bootstrap-servers): no Kafka broker answered"
              + " at "
              + servers
              + " within 1000 ms; start one (escapement up runs its own) or correct the setting",
          part,
          "--kafka-bootstrap-servers=" + servers,
          "--kafka-timeout=1s");
    }
  }

  @Test
  void noSuchHost() throws Exception {
    Result result = escapement.run("ingest", "--kafka-bootstrap-servers=host.invalid:9092");
    assertThat(result.exit()).isEqualTo(1);
    assertOneLine(result).contains("kafka.bootstrap-servers", "host.invalid", "can't be resolved");
  }

  @Test
  void noTopics() throws Exception {
    expect(
        1,
        "Kafka has no topic "
            + servers.topics().requests()
            + "; create what is missing with: escapement migrate"
            + " (or correct topics.prefix)",
        "ingest");
  }

  @Test
  void aLoginWithoutTheOperatorsRole() throws Exception {
    String lone = servers.name() + "-lone";
    String ingester = servers.name() + "_ingester";
    Result migrated = escapement.run("migrate", "--topics-prefix=" + lone);
    assertThat(migrated.exit()).as(migrated.err()).isZero();
    assertThat(migrated.out()).contains("topic " + lone + ".commands: created, partitions: 1");
    servers.createLogin(ingester, "right", "");
    servers.execute("grant escapement_ingest, escapement_reader to " + ingester);
    escapement.with("ESCAPEMENT_LEDGER_PASSWORD", "right");
    expect(
        2,
        "ledger.user: '"
            + ingester
            + "' may not do that: ERROR: permission denied to set role"
            + " \"escapement_operator\"; grant the role escapement_operator to it, or log in as its"
            + " owner; or set ingest.commands=false, and this process executes no commands",
        "ingest",
        "--topics-prefix=" + lone,
        "--ledger-user=" + ingester);
  }

  @Test
  void aTakenPort() throws Exception {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = other.getLocalPort();
      expect(
          1,
          "up.postgres-port: port "
              + port
              + " is taken by another program; choose another with"
              + " --up-postgres-port, 0 for any free one",
          "up",
          "--data-dir=" + scratch.resolve("taken"),
          "--up-kafka-port=0",
          "--up-postgres-port=" + port);
      expect(
          1,
          "up.kafka-port: port "
              + port
              + " is taken by another program; choose another with"
              + " --up-kafka-port, 0 for any free one",
          "up",
          "--data-dir=" + scratch.resolve("taken"),
          "--up-postgres-port=0",
          "--up-kafka-port=" + port);
    }
  }

  @Test
  void aDirectoryThatCannotBeWritten() throws Exception {
    Path file = Files.writeString(scratch.resolve("file"), "");
    Result result = escapement.run("up", "--data-dir=" + file.resolve("data"));
    assertThat(result.exit()).isEqualTo(1);
    assertOneLine(result)
        .contains("data.dir: " + file.resolve("data") + " can't be written")
        .endsWith("choose one that this user may write with --data-dir");
  }

  @Test
  void aDatabaseWithoutLogicalWal() throws Exception {
    Path data = Files.createDirectories(scratch.resolve("plain"));
    String plain = "--topics-prefix=" + servers.name() + "-plain";
    try (EmbeddedDatabase database =
        EmbeddedDatabase.start(data, 0, Map.of("wal_level", "replica"))) {
      String url = "--ledger-url=" + database.jdbcUrl("postgres");
      assertThat(escapement.run("migrate", url, plain).exit()).isZero();
      Result result = escapement.run("relay", url, plain);
      assertThat(result.exit()).isEqualTo(1);
      assertOneLine(result).contains("wal_level", "replica", "set wal_level=logical");
    }
  }

  @Test
  void aFileThatIsNotThere() throws Exception {
    expect(2, "absent.jsonl does not exist; name a file of events", "submit", "absent.jsonl");
  }

  @Test
  void aLineThatIsNotJson() throws Exception {
    Path file = Files.writeString(scratch.resolve("cut.jsonl"), "{\"a\":1}\n\n{\"b\":\n");
    Result result = escapement.run("submit", file.toString());
    assertThat(result.exit()).isEqualTo(2);
    assertOneLine(result)
        .startsWith("escapement: " + file + ":3: not JSON: ")
        .endsWith("mend the line, or send every line as it is with --raw");
  }

  @Test
  void verboseShowsTheStackTraceToo() throws Exception {
    for (String[] order :
        new String[][] {
          {"status", "--verbose", "--ledger-url=x"}, {"-v", "status", "--nonsense"}
        }) {
      Result result = escapement.run(order);
      assertThat(result.exit()).isEqualTo(2);
      assertThat(result.err()).contains("escapement: ", "\tat io.escapement.cli.");
    }
  }

  private void expect(int exit, String line, String... arguments) throws Exception {
    Result result = escapement.run(arguments);
    assertOneLine(result).isEqualTo("escapement: " + line);
    assertThat(result.exit()).isEqualTo(exit);
  }

  private static org.assertj.core.api.AbstractStringAssert<?> assertOneLine(Result result) {
    assertThat(result.err().lines()).as(result.err()).hasSize(1);
    return assertThat(result.err().strip());
  }

  private static int freePort() throws Exception {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
