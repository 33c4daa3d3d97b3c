package io.escapement.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An operator's process leaves in the middle of an act; see {@link LedgerCrashTest}. */
class OperatorCrashTest {

  private static final byte[] EFFECT = "done".getBytes(StandardCharsets.UTF_8);

  private CrashSite site;
  private TestLedger db;
  private Ledger operator;

  @BeforeEach
  void open() {
    site = CrashSite.open();
    db = site.db();
    operator = site.operator();
  }

  @AfterEach
  void close() {
    site.close();
  }

  @AfterAll
  static void endSpare() {
    CrashSite.endSpare();
  }

  @Test
  void aCrashInsideOrBeforeTheCommitOfARedriveLeavesTheTaskInQuarantine() throws Exception {
    long task = quarantined("a");
    assertCrashesLeaveNothing(
        "outbox",
        s -> operate(s, CommitBoundary.none()).redrive(task, 1, "crash"),
        s -> operate(s, CrashSite.halt(s, true)).redrive(task, 1, "crash"));
    assertThat(operator.redrive(task, 1, "again")).isEqualTo(Redriven.REDRIVEN);
  }

  @Test
  void aCrashAfterTheRedrivesCommitLeavesAllAndASecondOneSaysSo() {
    long task = quarantined("a");
    site.crash(s -> operate(s, CrashSite.halt(s, false)).redrive(task, 1, "crash").name());
    assertThat(operator.audit()).isEmpty();
    assertThat(db.column("select state || ' ' || attempt from escapement.task"))
        .containsExactly("SCHEDULED 2");
    assertThat(site.use()).containsExactly("1,2", "1,2");
    assertThat(operator.redrive(task, 1, "again")).isEqualTo(Redriven.NOT_QUARANTINED);
    site.settle(Observation.completed(task, site.claimNow(task).attempt(), EFFECT));
    assertThat(operator.audit()).isEmpty();
  }

  @Test
  void aCrashInsideOrBeforeTheCommitOfAResolutionLeavesTheTaskParked() throws Exception {
    long task = parked("a");
    assertCrashesLeaveNothing(
        "operator_action",
        s -> operate(s, CommitBoundary.none()).resolve(task, Resolution.DONE, "crash"),
        s -> operate(s, CrashSite.halt(s, true)).resolve(task, Resolution.DONE, "crash"));
    assertThat(operator.resolve(task, Resolution.FAILED, "again")).isEqualTo(Resolved.FAILED);
  }

  @Test
  void aCrashAfterTheResolutionsCommitLeavesAllAndASecondOneSaysSo() {
    long task = parked("a");
    site.crash(
        s -> operate(s, CrashSite.halt(s, false)).resolve(task, Resolution.DONE, "crash").name());
    assertThat(operator.audit()).isEmpty();
    assertThat(db.column("select state from escapement.task")).containsExactly("DONE");
    assertThat(site.use()).containsExactly("0,0", "0,0");
    assertThat(operator.resolve(task, Resolution.FAILED, "again")).isEqualTo(Resolved.NOT_PARKED);
    assertThat(db.column("select state from escapement.task")).containsExactly("DONE");
  }

  /** An operator's act, in the child. */
  @FunctionalInterface
  private interface Act extends Serializable {
    Object on(ChildSession session);
  }

  /** Neither while the statement is at work on a table, nor before the commit. */
  private void assertCrashesLeaveNothing(String table, Act inside, Act beforeCommit)
      throws SQLException {
    Map<String, List<String>> before = LedgerImage.of(db);
    Gate.closedBefore(
        db,
        table,
        () -> {
          site.crash(
              s -> {
                s.haltAtGate();
                return String.valueOf(inside.on(s));
              });
          assertThat(LedgerImage.of(db)).as("inside").isEqualTo(before);
        });
    site.crash(s -> String.valueOf(beforeCommit.on(s)));
    assertThat(LedgerImage.of(db)).as("before the commit").isEqualTo(before);
    assertThat(operator.audit()).isEmpty();
    assertThat(site.use()).containsExactly("1,2", "1,2");
  }

  private static Operate operate(ChildSession session, CommitBoundary boundary) {
    return new Operate(session.statements(Role.OPERATOR, boundary));
  }

  /** A task that has failed once and was taken out of service. */
  private long quarantined(String id) {
    long task = site.submitOne(id);
    ClaimedTask claimed = site.claimNow(task);
    site.settle(Observation.failed(task, claimed.attempt(), "no"));
    assertThat(operator.quarantine(task, "test")).isEqualTo(Quarantined.QUARANTINED);
    return task;
  }

  /** A task that a person must look at. */
  private long parked(String id) {
    site.external(ChannelDefinition.opaque(id, Duration.ofMillis(1)));
    long task = site.submitOne(id);
    ClaimedTask claimed = site.claimNow(task);
    site.settle(Observation.of(task, claimed.attempt(), Observation.Seen.TIMEOUT, null));
    return task;
  }
}
