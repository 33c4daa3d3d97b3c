package io.escapement.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.escapement.e2e.Distribution.Result;
import io.escapement.e2e.Pipeline.Event;
import io.escapement.ledger.KindDefinition;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a supervisor learns of a part from its health file. */
class HealthEndToEndTest {

  @TempDir private static Path data;
  private static TestServers servers;

  @TempDir private Path scratch;

  @BeforeAll
  static void startServers() throws Exception {
    servers = TestServers.start(data);
    assertThat(servers.slim(data).run("migrate").exit()).isZero();
  }

  @AfterAll
  static void stopServers() throws Exception {
    CloseAll.of(servers);
  }

  @Test
  void aPartSaysThatItRunsUntilItIsStopped() throws Exception {
    Path file = scratch.resolve("health");
    Distribution escapement = servers.slim(scratch).with("ESCAPEMENT_HEALTH_FILE", file.toString());
    assertThat(health(escapement, "").out()).startsWith("healthcheck: " + file + " is not there");
    try (PartProcess ingest = PartProcess.start(escapement, "ingest runs", "ingest")) {
      await().atMost(Pipeline.LIMIT).until(() -> Files.exists(file));
      assertThat(health(escapement, "").out()).isEqualTo("running\n");
      String first = Files.readString(file);
      await().atMost(Pipeline.LIMIT).until(() -> !Files.readString(file).equals(first));
      assertThat(health(escapement, "").exit()).isZero();
      assertThat(ingest.stop().exit()).isZero();
    }
    assertThat(file).doesNotExist();
    assertThat(health(escapement, "").exit()).isEqualTo(1);
  }

  @Test
  void whatAKilledProcessLeftIsNoSignOfLifeOfTheNext() throws Exception {
    Path file = scratch.resolve("health");
    Distribution escapement = servers.slim(scratch).with("ESCAPEMENT_HEALTH_FILE", file.toString());
    try (PartProcess relay = PartProcess.start(escapement, "relay runs", "relay")) {
      await().atMost(Pipeline.LIMIT).until(() -> Files.exists(file));
      relay.kill();
    }
    assertThat(health(escapement, "").out()).isEqualTo("running\n");
    Result next =
        escapement.run("ingest", "--kafka-bootstrap-servers=127.0.0.1:1", "--kafka-timeout=1s");
    assertThat(next.exit()).isEqualTo(1);
    assertThat(file).doesNotExist();
  }

  @Test
  void aPartSaysThatItIsStoppingWhileAHandlerStillRuns() throws Exception {
    Path file = scratch.resolve("health");
    Path begun = scratch.resolve("begun");
    try (Pipeline pipeline = Pipeline.create(servers, "health", scratch);
        PartProcess ingest = pipeline.ingest();
        PartProcess relay = pipeline.relay()) {
      pipeline.operate(
          ledger -> ledger.defineKind(KindDefinition.local(StuckHandler.KIND), "test"));
      pipeline.distribution().with("ESCAPEMENT_HEALTH_FILE", file.toString());
      try (PartProcess dispatcher = pipeline.dispatcher()) {
        pipeline.send(Event.of("stuck", "north", StuckHandler.KIND).about(begun.toString()));
        await().atMost(Pipeline.LIMIT).until(() -> Files.exists(begun));
        dispatcher.signal();
        await().atMost(Pipeline.LIMIT).until(() -> Files.readString(file).startsWith("stopping "));
        assertThat(dispatcher.stop().exit()).isIn(0, 130);
      }
      assertThat(ingest.stop().exit()).isZero();
      assertThat(relay.stop().exit()).isZero();
    }
  }

  @Test
  void aPartThatEndsWhatItHasInHandIsHealthy() throws Exception {
    Distribution escapement = Distribution.slim(scratch);
    Path file = scratch.resolve("stopping");
    Files.writeString(file, "stopping " + (Instant.now().getEpochSecond() - 60) + "\n");
    Result result = health(escapement, file.toString());
    assertThat(result.exit()).isZero();
    assertThat(result.out()).isEqualTo("stopping\n");
  }

  @Test
  void anOldTimeIsNoHealth() throws Exception {
    Distribution escapement = Distribution.slim(scratch);
    Path file = scratch.resolve("old");
    Files.writeString(file, "running " + (Instant.now().getEpochSecond() - 60) + "\n");
    Result old = health(escapement, file.toString());
    assertThat(old.exit()).isEqualTo(1);
    assertThat(old.out())
        .containsPattern("was written 6\\d seconds ago: the process has ended or stands still");

    Files.writeString(file, "running " + (Instant.now().getEpochSecond() - 10) + "\n");
    assertThat(health(escapement, file.toString()).exit()).isZero();
    Files.writeString(file, "running " + (Instant.now().getEpochSecond() + 60) + "\n");
    assertThat(health(escapement, file.toString()).out()).contains("is of the future");
    for (String nonsense : new String[] {"", "running\n", "running x1\n", "hello 1\n"}) {
      Files.writeString(file, nonsense);
      Result result = health(escapement, file.toString());
      assertThat(result.exit()).as(nonsense).isEqualTo(1);
      assertThat(result.out()).isEqualTo("healthcheck: " + file + " is no health file\n");
    }
  }

  @Test
  void withoutAFileItSaysWhatItNeeds() throws Exception {
    Result result = health(Distribution.slim(scratch), "");
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.out()).contains("ESCAPEMENT_HEALTH_FILE");
  }

  @Test
  void aFileThatCanNotBeWrittenIsRefusedAtTheStart() throws Exception {
    Result result = servers.slim(scratch).run("relay", "--health-file=/nonexistent/health");
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.err())
        .isEqualTo(
            "escapement: health.file: /nonexistent/health can't be written; name a file in a"
                + " directory that this user may write\n");
  }

  private static Result health(Distribution escapement, String file) throws Exception {
    Distribution.Started check =
        escapement.start(
            escapement.home().resolve("bin/healthcheck"),
            file.isEmpty() ? new String[0] : new String[] {file});
    assertThat(check.process().waitFor(Pipeline.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    return check.read();
  }
}
