package io.escapement.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.e2e.Distribution.Result;
import io.escapement.embedded.EmbeddedStack;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the doctor says of worlds that are sound, and of worlds that are not. */
class DoctorEndToEndTest {

  @TempDir private Path scratch;
  private EmbeddedStack stack;
  private Distribution escapement;

  @BeforeEach
  void start() throws Exception {
    stack =
        EmbeddedStack.start(
            new EmbeddedStack.Config(scratch.resolve("stack"), "escapement", 0, 0, false));
    escapement =
        Distribution.of(scratch)
            .with("ESCAPEMENT_LEDGER_URL", stack.jdbcUrl())
            .with("ESCAPEMENT_KAFKA_BOOTSTRAP_SERVERS", stack.bootstrapServers());
  }

  @AfterEach
  void stop() throws Exception {
    stack.close();
  }

  @Test
  void aWorldIsExaminedFromNothingToSoundAndBroken() throws Exception {
    expect(1, "error  PostgreSQL: ledger.url: ", "run 'escapement migrate' against it first");

    Result migrated = escapement.run("migrate");
    assertThat(migrated.exit()).as(migrated.err()).isZero();
    Result sound = escapement.run("doctor");
    assertThat(sound.exit()).as(sound.out()).isZero();
    assertThat(sound.out()).doesNotContain("error  ").contains("warning  kinds: none is defined");

    stack.execute("update escapement.ledger set max_payload_bytes = 5000000");
    expect(1, "error  topic escapement.dead-letters: max.message.bytes=", "set it to 5278528");
    Result relay = escapement.run("relay");
    assertThat(relay.exit()).isEqualTo(1);
    assertThat(relay.err()).startsWith("escapement: topic escapement.dead-letters: max.message");
    assertThat(escapement.run("migrate", "--topics-prefix=large").exit()).isZero();
    Result large = escapement.run("doctor", "--topics-prefix=large");
    assertThat(large.out()).as("new topics are made as large").doesNotContain("error  ");
    stack.execute("update escapement.ledger set max_payload_bytes = 262144");

    stack.execute(
        "update escapement.flyway_schema_history set checksum = 1"
            + " where script = 'R__12_admit.sql'");
    expect(1, "error  schema: lacks R__12_admit.sql of this version", "run escapement migrate");
    Result ingest = escapement.run("ingest");
    assertThat(ingest.exit()).isEqualTo(1);
    assertThat(ingest.err().lines())
        .containsExactly(
            "escapement: schema: lacks R__12_admit.sql of this version; run escapement migrate");
    assertThat(escapement.run("dispatch").exit()).isEqualTo(1);

    stack.execute(
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
