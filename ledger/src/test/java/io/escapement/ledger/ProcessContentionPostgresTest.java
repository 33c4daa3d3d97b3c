package io.escapement.ledger;

import static io.escapement.ledger.Requests.request;
import static io.escapement.ledger.TestLedger.ALL_SLOTS;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import java.util.function.LongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Twelve processes that want the same thing at the same time. Who wins is not asserted. */
class ProcessContentionPostgresTest {

  private static final Logger LOG = LoggerFactory.getLogger(ProcessContentionPostgresTest.class);

  private static final int PROCESSES = 12;
  private static final int CLAIM_ROUNDS = 300;
  private static final int CANCEL_ROUNDS = 200;
  private static final long PLENTY = 1_000_000;
  private static final byte[] EFFECT = "done".getBytes(StandardCharsets.UTF_8);

  private static final String WON = "won";

  /** Ten characters, thirty bytes. */
  private static final String THIRTY_BYTES = "€".repeat(10);

  private static Children children;

  private TestLedger db;
  private Ledger ingest;
  private Ledger operator;

  @BeforeAll
  static void start() {
    children = Children.start(PROCESSES);
  }

  @AfterAll
  static void end() {
    children.close();
  }

  @BeforeEach
  void open() {
    db = TestLedger.create();
    ingest = db.connect(Role.INGEST);
    operator = db.connect(Role.OPERATOR);
  }

  @AfterEach
  void close() {
    db.close();
  }

  // Seats.

  @Test
  void twelveProcessesForFourSeatsAreFourAcceptedAndEightFull() throws Exception {
    operator.setLimits(4, PLENTY, "test");
    assertThat(seatFaults(ofManyTenants("{}"), 4, Decision.GLOBAL_FULL)).isEmpty();
  }

  @Test
  void twelveProcessesForTwoSeatsOfATenantAreTwoAcceptedAndTenFull() throws Exception {
    operator.setTenant("acme", 2, PLENTY, 1, "test");
    assertThat(seatFaults(ofOneTenant("{}"), 2, Decision.TENANT_FULL)).isEmpty();
  }

  @Test
  void aBudgetOfBytesIsFullWhenItsBytesAreAndNotItsCharacters() throws Exception {
    operator.setLimits(PLENTY, 4 * 30 + 29, "test");
    assertThat(seatFaults(ofManyTenants(THIRTY_BYTES), 4, Decision.GLOBAL_FULL)).isEmpty();
    assertThat(db.column("select used_bytes from escapement.budgets where tenant is null"))
        .containsExactly("120");
  }

  @Test
  void aTenantsBudgetOfBytesIsFullWhenItsBytesAre() throws Exception {
    operator.setTenant("acme", PLENTY, 2 * 30 + 29, 1, "test");
    assertThat(seatFaults(ofOneTenant(THIRTY_BYTES), 2, Decision.TENANT_FULL)).isEmpty();
    assertThat(db.column("select used_bytes from escapement.budgets")).containsOnly("60");
  }

  /** The control: all twelve see room before any of them takes a seat. */
  @Test
  void aBudgetReadBeforeTheTransactionIsExceeded() throws Exception {
    operator.setLimits(4, PLENTY, "test");
    List<String> saw = atOnce(i -> ProcessContentionPostgresTest::seesRoom);
    List<String> answers =
        atOnce(
            i -> {
              String room = saw.get(i);
              return s -> promiseUnasked(s, "n" + i, room);
            });
    assertThat(seatFaults(answers, 4, Decision.GLOBAL_FULL))
        .contains("12 of 12 accepted, not 4", "12 tasks, not 4");
  }

  private List<String> ofManyTenants(String value) throws SQLException {
    return atOnce(i -> s -> s.admit(request("n" + i).tenant("t" + i).value(value)).toString());
  }

  private List<String> ofOneTenant(String value) throws SQLException {
    return atOnce(i -> s -> s.admit(request("n" + i).value(value)).toString());
  }

  private List<String> atOnce(IntFunction<ChildJob> jobs) throws SQLException {
    return children.atOnce(db, Role.INGEST, PROCESSES, jobs);
  }

  /** What is wrong with these answers to twelve requests for so many seats. */
  private List<String> seatFaults(List<String> answers, int seats, Decision refusal) {
    List<String> faults = new ArrayList<>();
    int accepted = Collections.frequency(answers, Decision.ACCEPTED.toString());
    if (accepted != seats) {
      faults.add(accepted + " of " + answers.size() + " accepted, not " + seats);
    }
    int refused = Collections.frequency(answers, refusal.toString());
    if (refused != answers.size() - seats) {
      faults.add(refused + " " + refusal + ", not " + (answers.size() - seats));
    }
    long tasks = db.number("select count(*) from escapement.task");
    if (tasks != seats) {
      faults.add(tasks + " tasks, not " + seats);
    }
    operator.audit().forEach(v -> faults.add(v.toString()));
    return faults;
  }

  private static String seesRoom(ChildSession session) throws SQLException {
    return session.text("select used_tasks < max_tasks from escapement.budget where tenant = ''");
  }

  private static String promiseUnasked(ChildSession session, String id, String room)
      throws SQLException {
    if (!room.equals("t")) {
      return Decision.GLOBAL_FULL.toString();
    }
    session.run(WrongSql.promise(id));
    return Decision.ACCEPTED.toString();
  }

  // Identity.

  @Test
  void aKnownIdIsAReplayWhileAnotherProcessTakesTheLastSeat() throws Exception {
    assertThat(whileTheLastSeatIsTaken(s -> s.admit(request("known")).toString()))
        .isEqualTo(Decision.REPLAY.toString());
  }

  /** The control: whoever looks at capacity first calls what it has accepted long ago full. */
  @Test
  void capacityBeforeIdentityRefusesWhatIsKnown() throws Exception {
    assertThat(whileTheLastSeatIsTaken(s -> s.text(WrongSql.capacityBeforeIdentity("known"))))
        .isEqualTo(Decision.GLOBAL_FULL.toString());
  }

  /** What one process hears of a known id that it asks for while another is about to commit. */
  private String whileTheLastSeatIsTaken(ChildJob asking) throws SQLException {
    operator.setLimits(2, PLENTY, "test");
    assertThat(db.submit(ingest, request("known").build())).containsExactly(Decision.ACCEPTED);
    ChildProcess taker = children.get(0);
    ChildProcess asker = children.get(1);
    taker.begin(db, ProcessContentionPostgresTest::takeTheLastSeat);
    taker.awaitPause("before the commit");
    asker.begin(db, asking);
    asker.awaitAnswerOrLock(db);
    taker.goOn();
    assertThat(taker.answer()).isEqualTo(Decision.ACCEPTED.toString());
    return asker.answer();
  }

  private static String takeTheLastSeat(ChildSession session) {
    CommitBoundary boundary = CommitBoundary.before(c -> session.pause("before the commit"));
    Admission answer =
        new Admit(session.statements(Role.INGEST, boundary))
            .apply(ChildSession.batch(request("last")));
    return ((Admission.Decided) answer).decisions().get(0).decision().toString();
  }

  // Claims.

  @Test
  void eightProcessesThatClaimOneTaskGetItOnce() throws Exception {
    long task = submitOne("a");
    List<String> answers = children.atOnce(db, Role.DISPATCHER, 8, i -> s -> claimOne(s, task));
    assertThat(answers).filteredOn(WON::equals).hasSize(1);
    assertThat(db.number("select attempt from escapement.task")).isEqualTo(1);
  }

  @Test
  void fourProcessesThatClaimTwentyTasksMakeTwentyAttempts() throws Exception {
    Submission.Request[] twenty = new Submission.Request[20];
    for (int i = 0; i < twenty.length; i++) {
      twenty[i] = request("n" + i).build();
    }
    db.submit(ingest, twenty);
    List<String> answers =
        children.atOnce(
            db, Role.DISPATCHER, 4, i -> ProcessContentionPostgresTest::claimAndCompleteAll);
    List<String> attempts =
        answers.stream().flatMap(a -> Stream.of(a.split(" "))).filter(a -> !a.isEmpty()).toList();
    LOG.info("attempts by process: {}", answers);
    assertThat(attempts).hasSize(20).doesNotHaveDuplicates().allMatch(a -> a.endsWith("/1"));
    assertThat(db.column("select task_id || '/' || number from escapement.attempt"))
        .containsExactlyInAnyOrderElementsOf(attempts);
    assertThat(db.number("select count(*) from escapement.effect")).isEqualTo(20);
    assertThat(operator.audit()).isEmpty();
  }

  @Test
  void noneOfThreeHundredTasksIsClaimedTwice() throws Exception {
    assertThat(roundsWithTwoHolders(task -> s -> claimTogether(s, task))).isZero();
    assertThat(operator.audit()).isEmpty();
  }

  /** The control, under the same load: all look, then all update without a lock. */
  @Test
  void selectThenUpdateGivesEveryTaskToMany() throws Exception {
    assertThat(roundsWithTwoHolders(task -> s -> selectThenUpdate(s, task)))
        .isEqualTo(CLAIM_ROUNDS);
  }

  /** In how many of the rounds more than one of four processes took the task for its own. */
  private int roundsWithTwoHolders(LongFunction<ChildJob> claim) throws SQLException {
    int twice = 0;
    for (long task : submitMany(CLAIM_ROUNDS)) {
      List<String> answers = children.together(db, 4, i -> claim.apply(task));
      int holders = Collections.frequency(answers, WON);
      assertThat(holders).isPositive();
      if (holders > 1) {
        twice++;
      }
    }
    LOG.info("{} of {} tasks were claimed more than once", twice, CLAIM_ROUNDS);
    return twice;
  }

  private static String claimOne(ChildSession session, long task) {
    return session.claim(task) == null ? "" : WON;
  }

  private static String claimTogether(ChildSession session, long task) throws SQLException {
    session.awaitStart();
    return claimOne(session, task);
  }

  private static String selectThenUpdate(ChildSession session, long task) throws SQLException {
    String state = session.text("select state from escapement.task where id = " + task);
    session.awaitStart();
    if (!state.equals("SCHEDULED")) {
      return "";
    }
    session.run(WrongSql.claimUnlooked(task, session.name()));
    return WON;
  }

  /** Claims what is due, three at a time, and completes it, until nothing is due. */
  private static String claimAndCompleteAll(ChildSession session) {
    Ledger worker = session.ledger(Role.DISPATCHER);
    List<String> attempts = new ArrayList<>();
    while (true) {
      List<ClaimAnswer> answers =
          worker.claimDue(session.nextOwner(), "default", ALL_SLOTS, WorkFilter.ANY, 3);
      if (answers.isEmpty()) {
        return String.join(" ", attempts);
      }
      for (ClaimAnswer answer : answers) {
        ClaimedTask lease = ((ClaimAnswer.Claimed) answer).lease();
        attempts.add(lease.task() + "/" + lease.attempt());
        worker.observe(List.of(Observation.completed(lease.task(), lease.attempt(), EFFECT)));
      }
    }
  }

  // Cancellation.

  @Test
  void aCancellationThatRacesDueAndCompletionLeavesOnlyWhatIsAllowed() throws Exception {
    long seed = Long.getLong("seed", System.nanoTime());
    SplittableRandom random = new SplittableRandom(seed);
    List<String> seen = new ArrayList<>();
    for (int round = 0; round < CANCEL_ROUNDS; round++) {
      String id = "r" + round;
      Instant due = Instant.now().plusNanos(random.nextLong(12_000_000));
      db.submit(ingest, request(id).dueAt(due).build());
      long[] delays = random.longs(5, 0, 4_000_000).toArray();
      List<String> answers = children.together(db, 3, i -> racer(i, id, delays));
      seen.add(answers.get(0) + " " + String.join("", answers.subList(1, 3)));
    }
    List<String> ends =
        db.column(
            """
            select t.state || ' ' || count(e.task_id)
            from escapement.intent i
              join escapement.task t on t.intent_id = i.id
              left join escapement.effect e on e.task_id = t.id
            group by i.event_id, t.state order by substr(i.event_id, 2)::int
            """);
    Map<String, Integer> together = new TreeMap<>();
    for (int round = 0; round < CANCEL_ROUNDS; round++) {
      together.merge(ends.get(round) + " " + seen.get(round), 1, Integer::sum);
    }
    LOG.info("seed {}: {}", seed, together);
    assertThat(together.keySet())
        .as("seed %d", seed)
        .isSubsetOf(
            "CANCELLED 0 CANCELLED_UNSTARTED ",
            "CANCELLED 0 REQUESTED CANCELLED",
            "DONE 1 TOO_LATE DONE")
        .hasSizeGreaterThan(1);
    operator.fold();
    assertThat(operator.audit()).isEmpty();
    assertThat(db.column("select used_tasks || ',' || used_bytes from escapement.budget"))
        .containsOnly("0,0");
  }

  /** One cancels, two claim when it is due and complete it; each some moments after the start. */
  private static ChildJob racer(int which, String id, long[] delays) {
    long first = delays[which];
    if (which == 0) {
      return s -> {
        Ledger operator = s.ledger(Role.OPERATOR);
        s.awaitStart();
        LockSupport.parkNanos(first);
        return operator.cancel("/test", id, false, "race").get(0).result().name();
      };
    }
    long second = delays[which + 2];
    return s -> {
      Ledger worker = s.ledger(Role.DISPATCHER);
      long task =
          Long.parseLong(
              s.text("select first_task from escapement.intent where event_id = '" + id + "'"));
      s.awaitStart();
      LockSupport.parkNanos(first);
      ClaimedTask claimed = claimWhenDue(s, task);
      if (claimed == null) {
        return "";
      }
      LockSupport.parkNanos(second);
      Observation done = Observation.completed(task, claimed.attempt(), EFFECT);
      return worker.observe(List.of(done)).get(0) instanceof ObserveAnswer.Applied applied
          ? applied.state().name()
          : "not applied";
    };
  }

  private static @Nullable ClaimedTask claimWhenDue(ChildSession session, long task) {
    Ledger worker = session.ledger(Role.DISPATCHER);
    long start = System.nanoTime();
    while (System.nanoTime() - start < ChildProcess.PATIENCE.toNanos()) {
      ClaimAnswer answer = worker.claim(session.nextOwner(), WorkFilter.ANY, List.of(task)).get(0);
      if (answer instanceof ClaimAnswer.Claimed claimed) {
        return claimed.lease();
      }
      if (!(answer instanceof ClaimAnswer.NotDue)) {
        return null;
      }
    }
    throw new IllegalStateException("task " + task + " does not become due");
  }

  private long submitOne(String id) {
    assertThat(db.submit(ingest, request(id).build())).containsExactly(Decision.ACCEPTED);
    return taskOf(id);
  }

  private List<Long> submitMany(int count) {
    Submission.Request[] requests = new Submission.Request[count];
    for (int i = 0; i < count; i++) {
      requests[i] = request("n" + i).build();
    }
    assertThat(db.submit(ingest, requests)).containsOnly(Decision.ACCEPTED);
    return db.column("select id from escapement.task order by id").stream()
        .map(Long::valueOf)
        .toList();
  }

  private long taskOf(String id) {
    return db.number("select first_task from escapement.intent where event_id = '" + id + "'");
  }
}
