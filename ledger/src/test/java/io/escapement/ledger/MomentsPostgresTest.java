package io.escapement.ledger;

import static io.escapement.ledger.Requests.request;
import static io.escapement.ledger.TestLedger.ALL_SLOTS;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What holds at the very moment, to the microsecond, on a clock that stands still. */
class MomentsPostgresTest {

  private static final byte[] EFFECT = "done".getBytes(StandardCharsets.UTF_8);
  private static final Duration LEASE = Duration.ofSeconds(5);
  private static final Duration MICRO = Duration.ofNanos(1_000);

  private TestLedger db;
  private Ledger ingest;
  private Ledger worker;
  private Ledger operator;
  private DatabaseClock clock;
  private int claims;

  @BeforeEach
  void open() {
    db = TestLedger.create();
    ingest = db.connect(Role.INGEST);
    worker = db.connect(Role.DISPATCHER);
    operator = db.connect(Role.OPERATOR);
    operator.defineKind(KindDefinition.local("work").withLease(LEASE), "test");
    clock = DatabaseClock.stop(db);
  }

  @AfterEach
  void auditAndClose() {
    assertThat(operator.audit()).isEmpty();
    db.close();
  }

  @Test
  void aTaskIsClaimedAtItsDueTimeAndNotAMicrosecondBefore() {
    Instant due = clock.read().plusSeconds(60);
    db.submit(ingest, request("a").issuedAt(clock.read()).dueAt(due).build());
    long task = db.number("select id from escapement.task");
    clock.set(due.minus(MICRO));
    assertThat(claim(task)).isEqualTo(new ClaimAnswer.NotDue(task, due));
    clock.set(due);
    assertThat(claim(task)).isInstanceOf(ClaimAnswer.Claimed.class);
  }

  @Test
  void aTaskThatExpiresAtThisMomentHasExpired() {
    Instant expires = clock.read().plusSeconds(60);
    for (String id : List.of("a", "b")) {
      db.submit(ingest, request(id).issuedAt(clock.read()).expiresAt(expires).build());
    }
    List<String> tasks = db.column("select id from escapement.task order by id");
    clock.set(expires.minus(MICRO));
    assertThat(claim(Long.parseLong(tasks.get(0)))).isInstanceOf(ClaimAnswer.Claimed.class);
    clock.set(expires);
    assertThat(claim(Long.parseLong(tasks.get(1))))
        .isEqualTo(new ClaimAnswer.Settled(Long.parseLong(tasks.get(1)), TaskState.FAILED));
  }

  @Test
  void aLeaseCompletesUpToAMicrosecondBeforeItsEnd() {
    ClaimedTask claimed = claimNew("a");
    clock.set(claimed.claimedAt().plus(LEASE).minus(MICRO));
    assertThat(worker.reclaim("default", ALL_SLOTS, 10)).isEmpty();
    assertThat(complete(claimed)).isInstanceOf(ObserveAnswer.Applied.class);
  }

  @Test
  void aLeaseExactlyAtItsEndIsOverForACompletion() {
    ClaimedTask claimed = claimNew("a");
    clock.set(claimed.claimedAt().plus(LEASE));
    assertThat(complete(claimed)).isInstanceOf(ObserveAnswer.Late.class);
    assertThat(db.number("select count(*) from escapement.effect")).isZero();
  }

  @Test
  void aLeaseExactlyAtItsEndIsOverForAHandlersTransaction() {
    ClaimedTask claimed = claimNew("a");
    clock.set(claimed.claimedAt().plus(LEASE));
    worker.complete(
        claimed,
        c -> {
          throw new AssertionError("the work must not begin");
        });
    assertThat(db.column("select state from escapement.task")).containsExactly("SCHEDULED");
    assertThat(db.column("select outcome from escapement.attempt")).containsExactly("RELEASED");
    assertThat(db.number("select count(*) from escapement.effect")).isZero();
  }

  @Test
  void aLeaseExactlyAtItsEndIsNotRenewed() {
    ClaimedTask claimed = claimNew("a");
    clock.set(claimed.claimedAt().plus(LEASE).minus(MICRO));
    assertThat(renew(claimed)).isInstanceOf(RenewAnswer.Renewed.class);
    clock.set(clock.read().plus(LEASE));
    assertThat(renew(claimed)).isInstanceOf(RenewAnswer.Lost.class);
  }

  @Test
  void aLeaseExactlyAtItsEndIsTakenOver() {
    ClaimedTask claimed = claimNew("a");
    clock.set(claimed.claimedAt().plus(LEASE));
    assertThat(worker.reclaim("default", ALL_SLOTS, 10)).hasSize(1);
    assertThat(claim(claimed.task()))
        .isInstanceOfSatisfying(
            ClaimAnswer.Claimed.class, c -> assertThat(c.lease().attempt()).isEqualTo(2));
    assertThat(complete(claimed)).isInstanceOf(ObserveAnswer.Late.class);
  }

  private ClaimedTask claimNew(String id) {
    assertThat(db.submit(ingest, request(id).issuedAt(clock.read()).build()))
        .containsExactly(Decision.ACCEPTED);
    return ((ClaimAnswer.Claimed) claim(db.number("select max(id) from escapement.task"))).lease();
  }

  private ClaimAnswer claim(long task) {
    return worker.claim("w/" + ++claims, WorkFilter.ANY, List.of(task)).get(0);
  }

  private ObserveAnswer complete(ClaimedTask claimed) {
    return worker
        .observe(List.of(Observation.completed(claimed.task(), claimed.attempt(), EFFECT)))
        .get(0);
  }

  private RenewAnswer renew(ClaimedTask claimed) {
    return worker.renew(List.of(new LeaseKey(claimed.task(), claimed.attempt()))).get(0);
  }
}
