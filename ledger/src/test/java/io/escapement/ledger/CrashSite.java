package io.escapement.ledger;

import static io.escapement.ledger.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A ledger, faces on it that survive, and processes that don't. */
final class CrashSite implements AutoCloseable {

  /** The next one to leave; it starts while the test of the one before is still reading. */
  private static @Nullable ChildProcess spare;

  private final TestLedger db;
  private final Ledger ingest;
  private final Ledger worker;
  private final Ledger operator;
  private final Set<String> external = new HashSet<>();
  private int claims;

  private CrashSite(TestLedger db) {
    this.db = db;
    this.ingest = db.connect(Role.INGEST);
    this.worker = db.connect(Role.DISPATCHER);
    this.operator = db.connect(Role.OPERATOR);
  }

  static CrashSite open() {
    if (spare == null) {
      spare = ChildProcess.start();
    }
    return new CrashSite(TestLedger.create());
  }

  /** After the last test of a class. */
  static void endSpare() {
    ChildProcess last = spare;
    spare = null;
    if (last != null) {
      last.close();
    }
  }

  TestLedger db() {
    return db;
  }

  Ledger ingest() {
    return ingest;
  }

  Ledger worker() {
    return worker;
  }

  Ledger operator() {
    return operator;
  }

  /** Leaves before the commit, or after it. */
  static CommitBoundary halt(ChildSession session, boolean before) {
    return before
        ? CommitBoundary.before(c -> session.halt())
        : CommitBoundary.after(c -> session.halt());
  }

  /** Lets a process do a job that ends it. */
  void crash(ChildJob job) {
    try (ChildProcess child = takeSpare()) {
      child.leave(db, job);
    }
  }

  /** Lets a process claim, then leave; answers with the rows from in between. */
  Map<String, List<String>> crashAfterClaim(ChildJob job) {
    try (ChildProcess child = takeSpare()) {
      child.begin(db, job);
      child.awaitPause("claimed");
      Map<String, List<String>> rows = LedgerImage.of(db);
      child.goOn();
      child.awaitHalt(db);
      return rows;
    }
  }

  private static ChildProcess takeSpare() {
    ChildProcess child = spare == null ? ChildProcess.start() : spare;
    spare = ChildProcess.start();
    child.awaitReady();
    return child;
  }

  /** From now on a kind goes to the outside, without backoff; kind and channel bear one name. */
  void external(ChannelDefinition channel) {
    operator.defineChannel(channel, "test");
    operator.defineKind(
        KindDefinition.local(channel.name())
            .withChannel(channel.name())
            .withBackoff(Duration.ZERO, Duration.ZERO, 0),
        "test");
    external.add(channel.name());
  }

  /** A request of the kind of this name, if there is one. */
  long submitOne(String id) {
    Requests request = request(id).kind(external.contains(id) ? id : "work");
    assertThat(db.submit(ingest, request.build())).containsExactly(Decision.ACCEPTED);
    return db.number("select first_task from escapement.intent where event_id = '" + id + "'");
  }

  ClaimedTask claimNow(long task) {
    return ((ClaimAnswer.Claimed)
            worker.claim("w/" + ++claims, WorkFilter.ANY, List.of(task)).get(0))
        .lease();
  }

  ClaimedTask claimWhenDue(long task) {
    await()
        .atMost(ChildProcess.PATIENCE)
        .until(
            () ->
                db.number(
                        "select count(*) from escapement.task where due_at <= now() and id = "
                            + task)
                    == 1);
    return claimNow(task);
  }

  void settle(Observation observation) {
    assertThat(worker.observe(List.of(observation)).get(0))
        .isInstanceOf(ObserveAnswer.Applied.class);
  }

  /** As if its time had passed. */
  void endLease(long task) {
    db.execute("update escapement.task set lease_until = clock_timestamp() where id = " + task);
  }

  /** What each budget has in use, tasks and bytes. */
  List<String> use() {
    operator.fold();
    return db.column("select used_tasks || ',' || used_bytes from escapement.budgets");
  }

  @Override
  public void close() {
    db.close();
  }
}
