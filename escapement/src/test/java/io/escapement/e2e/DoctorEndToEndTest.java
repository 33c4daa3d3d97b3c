package io.escapement.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.e2e.Distribution.Result;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the doctor says of worlds that are sound, and of worlds that are not. */
class DoctorEndToEndTest {

  @TempDir private Path scratch;
  private TestServers servers;
  private Distribution escapement;

  @BeforeEach
  void start() throws Exception {
    servers = TestServers.start(scratch);
    escapement = servers.full(scratch);
  }

  @AfterEach
  void stop() throws Exception {
    CloseAll.of(servers);
  }

  @Test
  void aWorldIsExaminedFromNothingToSoundAndBroken() throws Exception {
    expect(1, "error  PostgreSQL: ledger.url: ", "run 'escapement migrate' against it first");

    Result migrated = escapement.run("migrate");
    assertThat(migrated.exit()).as(migrated.err()).isZero();
    Result sound = escapement.run("doctor");
    assertThat(sound.exit()).as(sound.out()).isZero();
    assertThat(sound.out()).doesNotContain("error  ").contains("warning  kinds: none is defined");

    String deadLetters = servers.topics().deadLetters();
    servers.execute("update escapement.ledger set max_payload_bytes = 5000000");
    expect(1, "error  topic " + deadLetters + ": max.message.bytes=", "set it to 5278528");
    Result relay = escapement.run("relay");
    assertThat(relay.exit()).isEqualTo(1);
    assertThat(relay.err()).startsWith("escapement: topic " + deadLetters + ": max.message");
    String large = "--topics-prefix=" + servers.name() + "-large";
    assertThat(escapement.run("migrate", large).exit()).isZero();
    Result enlarged = escapement.run("doctor", large);
    assertThat(enlarged.out()).as("new topics are made as large").doesNotContain("error  ");
    servers.execute("update escapement.ledger set max_payload_bytes = 262144");

    servers.execute(
        "update escapement.flyway_schema_history set checksum = 1"
            + " where script = 'R__12_admit.sql'");
    expect(1, "error  schema: lacks R__12_admit.sql of this version", "run escapement migrate");
    Result ingest = escapement.run("ingest");
    assertThat(ingest.exit()).isEqualTo(1);
    assertThat(ingest.err().lines())
        .containsExactly(
            "escapement: schema: lacks R__12_admit.sql of this version; run escapement migrate");
    assertThat(escapement.run("dispatch").exit()).isEqualTo(1);

    servers.execute(
        "insert into escapement.ingest_position (topic_id, partition, topic, position, held_since,"
            + " held_for) values (gen_random_uuid(), 3, 'escapement.requests', 41, now(),"
            + " 'global_full')");
    assertThat(escapement.run("status").out())
        .contains("held: escapement.requests-3 waits at offset 41 for room (global_full) since 20")
        .contains("relay: nothing has been relayed yet");
  }

  @Test
  void serversThatAreAwayAreFindingsBoth() throws Exception {
    escapement
        .with("ESCAPEMENT_LEDGER_URL", "jdbc:postgresql://127.0.0.1:1/x")
        .with("ESCAPEMENT_KAFKA_BOOTSTRAP_SERVERS", "127.0.0.1:2")
        .with("ESCAPEMENT_KAFKA_TIMEOUT", "1s");
    Result examined = escapement.run("doctor");
    assertThat(examined.exit()).isEqualTo(1);
    assertThat(examined.out().lines())
        .hasSize(3)
        .anyMatch(line -> line.startsWith("error  PostgreSQL: ledger.url: no PostgreSQL answers"))
        .anyMatch(line -> line.startsWith("error  Kafka: kafka.bootstrap-servers"))
        .anyMatch(line -> line.equals("errors: 2, warnings: 0"));
  }

  private void expect(int exit, String start, String cure) throws Exception {
    Result examined = escapement.run("doctor");
    assertThat(examined.exit()).as(examined.out() + examined.err()).isEqualTo(exit);
    assertThat(examined.out().lines())
        .as(examined.out())
        .anyMatch(line -> line.startsWith(start) && line.contains(cure));
  }
}
