package io.escapement.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** I1 for commands, across kill -9 between the ledger's commit and Kafka's. */
class CommandCrashTest {

  private final CommandFixture fixture = new CommandFixture();

  @BeforeAll
  static void beGenerous() {
    Awaitility.setDefaultTimeout(Duration.ofSeconds(60));
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void aCommandExecutedBeforeTheKillIsNotExecutedAfterIt() throws Exception {
    fixture.produce(fixture.pause("a"), fixture.pause("b"), fixture.pause("c"));
    killBetweenTheCommits();
    int before = fixture.decisions().size();
    assertThat(before).as("one whose verdict is known, and perhaps the next").isBetween(1, 2);
    IngestAssembly next = fixture.commands();
    await().until(() -> next.stats().snapshot().decided() == 3 - before);
    assertThat(fixture.decisions()).containsExactly("0 executed", "1 executed", "2 executed");
    assertThat(
            fixture
                .database()
                .number("select count(*) from escapement.actions where source = '/ops'"))
        .isEqualTo(3);
  }

  private void killBetweenTheCommits() throws Exception {
    Process child =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                "-Dlogback.configurationFile=" + System.getProperty("logback.configurationFile"),
                CommandCrashChild.class.getName(),
                IngestFixture.bootstrap(),
                fixture.database().config().url(),
                fixture.servers().prefix())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      assertThat(saysThatItIsBetweenTheCommits(child)).isTrue();
    } finally {
      // SIGKILL: no shutdown hook, no leaving of the group.
      child.destroyForcibly();
    }
    assertThat(child.waitFor(30, TimeUnit.SECONDS)).isTrue();
    // The broker would find out by itself, a session timeout later.
    fixture
        .servers()
        .admin()
        .removeMembersFromConsumerGroup(
            fixture.config().group(), new RemoveMembersFromConsumerGroupOptions())
        .all()
        .get();
  }

  private static boolean saysThatItIsBetweenTheCommits(Process child) throws IOException {
    try (BufferedReader output = child.inputReader(StandardCharsets.UTF_8);
        Stream<String> lines = output.lines()) {
      return lines.anyMatch(CrashChild.COMMITTING::equals);
    }
  }
}
