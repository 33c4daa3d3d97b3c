package io.escapement.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.escapement.ledger.Role;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** I1, across kill -9 between the ledger's commit and Kafka's. */
class IngestCrashTest {

  private static final int RECORDS = 40;

  private final IngestFixture fixture = new IngestFixture(1);

  @BeforeAll
  static void beGenerous() {
    Awaitility.setDefaultTimeout(Duration.ofSeconds(60));
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void aRecordDecidedBeforeTheKillIsNotDecidedAfterIt() throws Exception {
    fixture.produce(0, fixture.requests(0, RECORDS));
    killBetweenTheCommits("fenced");
    assertThat(fixture.committed(0)).as("Kafka knows nothing of it").isEqualTo(-1);
    long before = fixture.receipts().size();
    assertThat(before).isPositive();
    fixture.produce(0, fixture.requests(RECORDS, RECORDS));
    IngestAssembly next = fixture.ingest();
    await().until(() -> fixture.decisionsByRecord().size() == 2 * RECORDS);
    assertThat(next.stats().snapshot().decided()).isEqualTo(2 * RECORDS - before);
    assertThat(decidedMoreThanOnce()).isEmpty();
    assertThat(fixture.intents()).isEqualTo(2 * RECORDS);
  }

  @Test
  void anIngestThatTrustsKafkasOffsetDecidesAgain() throws Exception {
    fixture.produce(0, fixture.requests(0, RECORDS));
    killBetweenTheCommits("unfenced");
    long before = fixture.receipts().size();
    assertThat(before).isPositive();
    try (UnfencedIngest next =
        new UnfencedIngest(
            fixture.database().connect(Role.INGEST),
            fixture.kafka(),
            fixture.topic(),
            fixture.group(),
            ConsumerLens.of(new ConsumerLens.Moments() {}))) {
      next.start();
      await().until(() -> fixture.receipts().size() >= before + RECORDS);
    }
    assertThat(decidedMoreThanOnce()).as("the checker catches it").hasSize((int) before);
  }

  private Map<String, Long> decidedMoreThanOnce() {
    Map<String, Long> decisions = fixture.decisionsByRecord();
    decisions.values().removeIf(n -> n == 1);
    return decisions;
  }

  private void killBetweenTheCommits(String guard) throws Exception {
    Process child =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                "-Dlogback.configurationFile=" + System.getProperty("logback.configurationFile"),
                CrashChild.class.getName(),
                guard,
                IngestFixture.bootstrap(),
                fixture.database().config().url(),
                fixture.prefix())
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
        .admin()
        .removeMembersFromConsumerGroup(
            fixture.group(), new RemoveMembersFromConsumerGroupOptions())
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
