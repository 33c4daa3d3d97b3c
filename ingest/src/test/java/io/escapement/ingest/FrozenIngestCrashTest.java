package io.escapement.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.escapement.ledger.Ledger;
import io.escapement.ledger.Role;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** I1, with real processes that are stopped in the middle, or killed. */
@Timeout(180)
class FrozenIngestCrashTest {

  private static final int RECORDS = 60;

  private final IngestFixture fixture = new IngestFixture(2);
  private final List<Process> children = new ArrayList<>();

  @BeforeAll
  static void beGenerous() {
    Awaitility.setDefaultTimeout(Duration.ofSeconds(90));
  }

  @AfterEach
  void close() throws InterruptedException {
    for (Process child : children) {
      child.destroyForcibly();
      child.waitFor();
    }
    try (Ledger operator = fixture.database().connect(Role.OPERATOR)) {
      assertThat(operator.audit()).isEmpty();
    }
    fixture.close();
  }

  @Test
  void aProcessThatWakesUpAfterAnotherTookOverDecidesNothingAgain() throws Exception {
    fixture.produce(0, fixture.requests(0, RECORDS));
    Process zombie = child("fenced", true);
    BufferedReader said = zombie.inputReader(StandardCharsets.UTF_8);
    assertThat(says(said, IngestChild.POLLED)).isTrue();
    signal("STOP", zombie);
    IngestAssembly successor = fixture.ingest();
    await().until(() -> successor.stats().snapshot().decided() == RECORDS);
    signal("CONT", zombie);
    goOn(zombie);
    assertThat(says(said, IngestChild.FENCED)).as("by the position's row").isTrue();
    fixture.produce(0, fixture.requests(RECORDS, RECORDS));
    await().until(() -> fixture.receipts().size() >= 2 * RECORDS);
    assertEachDecidedOnce(2 * RECORDS);
  }

  @Test
  void withoutTheFenceItDecidesAllAgain() throws Exception {
    fixture.produce(0, fixture.requests(0, RECORDS));
    Process zombie = child("unfenced", true);
    BufferedReader said = zombie.inputReader(StandardCharsets.UTF_8);
    assertThat(says(said, IngestChild.POLLED)).isTrue();
    signal("STOP", zombie);
    child("unfenced", false);
    await().until(() -> fixture.receipts().size() == RECORDS);
    signal("CONT", zombie);
    goOn(zombie);
    await().until(() -> fixture.receipts().size() == 2 * RECORDS);
    assertThat(fixture.decisionsByRecord())
        .hasSize(RECORDS)
        .allSatisfy((r, n) -> assertThat(n).isEqualTo(2));
  }

  @Test
  void aProcessKilledBetweenPollAndAdmissionLeavesTheRecordsToTheNext() throws Exception {
    fixture.produce(0, fixture.requests(0, RECORDS));
    Process child = child("fenced", true);
    assertThat(says(child.inputReader(StandardCharsets.UTF_8), IngestChild.POLLED)).isTrue();
    kill(child);
    assertThat(fixture.receipts()).isEmpty();
    IngestAssembly next = fixture.ingest();
    await().until(() -> next.stats().snapshot().decided() == RECORDS);
    assertEachDecidedOnce(RECORDS);
  }

  @Test
  void aProcessKilledWhileItsAdmissionWaitsForALockIsDecidedOnce() throws Exception {
    fixture.produce(0, fixture.requests(0, RECORDS));
    try (Connection connection = fixture.database().connection();
        Statement sql = connection.createStatement()) {
      connection.setAutoCommit(false);
      sql.execute("select from escapement.budget for update");
      Process child = child("fenced", false);
      await().until(() -> waitingForALock() > 0);
      kill(child);
      connection.rollback();
    }
    fixture.produce(0, fixture.requests(RECORDS, RECORDS));
    fixture.ingest();
    await().until(() -> fixture.receipts().size() >= 2 * RECORDS);
    assertEachDecidedOnce(2 * RECORDS);
  }

  @Test
  void aProcessKilledWhileItsPartitionWaitsForRoomLosesNothing() throws Exception {
    try (Ledger operator = fixture.database().connect(Role.OPERATOR)) {
      operator.setLimits(10, 1_000_000, "test");
      fixture.produce(0, fixture.requests(0, RECORDS));
      Process child = child("holding", false);
      await().until(() -> !operator.status().held().isEmpty());
      kill(child);
      assertThat(fixture.receipts()).hasSize(10);
      operator.setLimits(RECORDS, 1_000_000, "test");
    }
    fixture.ingest(fixture.holding());
    await().until(() -> fixture.receipts().size() >= RECORDS);
    assertEachDecidedOnce(RECORDS);
  }

  @Test
  void aProcessKilledWhileItGivesUpAPartitionIsDecidedOnce() throws Exception {
    fixture.produce(0, fixture.requests(0, RECORDS));
    fixture.produce(1, fixture.requests(RECORDS, RECORDS));
    try (Connection connection = fixture.database().connection();
        Statement sql = connection.createStatement()) {
      connection.setAutoCommit(false);
      sql.execute("select from escapement.budget for update");
      Process child = child("fenced", false);
      await().until(() -> waitingForALock() > 0);
      // It gives a partition up to a second member once its batch has ended, which it can't.
      fixture.ingest();
      await().until(() -> members() == 2);
      kill(child);
      connection.rollback();
    }
    await().until(() -> fixture.receipts().size() >= 2 * RECORDS);
    assertEachDecidedOnce(2 * RECORDS);
  }

  private long waitingForALock() {
    return fixture
        .database()
        .number(
            "select count(*) from pg_stat_activity"
                + " where datname = current_database() and wait_event_type = 'Lock'");
  }

  private long members() {
    return IngestFixture.get(
            () -> fixture.admin().describeConsumerGroups(List.of(fixture.group())).all().get())
        .values()
        .stream()
        .mapToLong(group -> group.members().size())
        .sum();
  }

  private Process child(String guard, boolean waits) throws IOException {
    Process child =
        IngestChild.start(
            guard, waits, IngestFixture.bootstrap(), fixture.database().config(), fixture.prefix());
    children.add(child);
    return child;
  }

  private void kill(Process child) throws Exception {
    child.destroyForcibly().waitFor();
    // The broker would find out by itself, a session timeout later.
    fixture
        .admin()
        .removeMembersFromConsumerGroup(
            fixture.group(), new RemoveMembersFromConsumerGroupOptions())
        .all()
        .get();
  }

  private static void signal(String name, Process child) throws Exception {
    Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(child.pid())).start();
    assertThat(kill.waitFor()).isZero();
  }

  /** Waits for a line of a child; its log goes the same way. */
  private static boolean says(BufferedReader said, String what) throws IOException {
    String line = said.readLine();
    while (line != null && !line.equals(what)) {
      line = said.readLine();
    }
    return line != null;
  }

  private static void goOn(Process child) throws IOException {
    child.getOutputStream().write('\n');
    child.getOutputStream().flush();
  }

  private void assertEachDecidedOnce(int records) {
    assertThat(fixture.decisionsByRecord())
        .hasSize(records)
        .allSatisfy((r, n) -> assertThat(n).isOne());
    assertThat(fixture.intents()).isEqualTo(records);
  }
}
