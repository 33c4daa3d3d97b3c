package io.escapement.ledger;

import static io.escapement.ledger.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ContentionPostgresTest {

  private TestLedger db;
  private Ledger operator;

  @BeforeEach
  void open() {
    db = TestLedger.create();
    operator = db.connect(Role.OPERATOR);
  }

  @AfterEach
  void close() {
    db.close();
  }

  @Test
  void twelveAtOnceForFourSeatsAreFourAcceptedAndEightFull() throws Exception {
    operator.setLimits(4, 1_000_000, "test");
    Ledger ingest = db.connect(Role.INGEST);
    List<Decision> decisions =
        atOnce(12, i -> () -> db.submit(ingest, request("n" + i).tenant("t" + i).build()).get(0));
    assertThat(decisions).filteredOn(Decision.ACCEPTED::equals).hasSize(4);
    assertThat(decisions).filteredOn(Decision.GLOBAL_FULL::equals).hasSize(8);
    assertThat(operator.audit()).isEmpty();
  }

  @Test
  void twelveAtOnceForTwoSeatsOfATenantAreTwoAcceptedAndTenFull() throws Exception {
    operator.setTenant("acme", 2, 1_000_000, 1, "test");
    Ledger ingest = db.connect(Role.INGEST);
    List<Decision> decisions =
        atOnce(12, i -> () -> db.submit(ingest, request("n" + i).build()).get(0));
    assertThat(decisions).filteredOn(Decision.ACCEPTED::equals).hasSize(2);
    assertThat(decisions).filteredOn(Decision.TENANT_FULL::equals).hasSize(10);
    assertThat(operator.audit()).isEmpty();
  }

  /** The control: a budget that is read before the transaction lets more in than there is room. */
  @Test
  void aBudgetReadBeforeTheTransactionIsExceeded() throws Exception {
    db.execute("create table public.seat (n int)");
    CyclicBarrier allHaveRead = new CyclicBarrier(12);
    atOnce(
        12,
        i ->
            () -> {
              boolean room = db.number("select count(*) from public.seat") < 4;
              allHaveRead.await();
              if (room) {
                db.execute("insert into public.seat values (" + i + ")");
              }
              return room;
            });
    assertThat(db.number("select count(*) from public.seat")).isGreaterThan(4);
  }

  @Test
  void oneIdentityAskedForTwelveTimesAtOnceIsAcceptedOnce() throws Exception {
    Ledger ingest = db.connect(Role.INGEST);
    Submission.Request same = request("same").build();
    List<Decision> decisions = atOnce(12, i -> () -> db.submit(ingest, same).get(0));
    assertThat(decisions).filteredOn(Decision.ACCEPTED::equals).hasSize(1);
    assertThat(decisions).filteredOn(Decision.REPLAY::equals).hasSize(11);
    assertThat(db.number("select count(*) from escapement.task")).isEqualTo(1);
  }

  @Test
  void eightClaimersOfOneTaskGetItOnce() throws Exception {
    long task = submitOne("a");
    Ledger worker = db.connect(Role.DISPATCHER);
    List<Boolean> won =
        atOnce(
            8,
            i ->
                () ->
                    worker.claim("w/" + i, List.of("work"), List.of(task)).get(0)
                        instanceof ClaimAnswer.Claimed);
    assertThat(won).filteredOn(Boolean::booleanValue).hasSize(1);
    assertThat(db.number("select attempt from escapement.task")).isEqualTo(1);
  }

  /** The control: select, then update without a lock, and all have it. */
  @Test
  void selectThenUpdateGivesOneTaskToMany() throws Exception {
    long task = submitOne("a");
    CyclicBarrier allHaveSeen = new CyclicBarrier(8);
    List<Boolean> won =
        atOnce(
            8,
            i ->
                () -> {
                  try (Connection connection = db.connection();
                      Statement s = connection.createStatement()) {
                    boolean free;
                    try (ResultSet row =
                        s.executeQuery(
                            "select state = 'SCHEDULED' from escapement.task where id = " + task)) {
                      free = row.next() && row.getBoolean(1);
                    }
                    allHaveSeen.await();
                    return free
                        && s.executeUpdate(
                                "update escapement.task set state = 'CLAIMED', attempt = 1,"
                                    + " action = 'RUN', claimed_at = now(), lease_owner = 'w"
                                    + i
                                    + "', lease_until = now() + interval '1 minute' where id = "
                                    + task)
                            == 1;
                  }
                });
    assertThat(won).filteredOn(Boolean::booleanValue).hasSizeGreaterThan(1);
  }

  @Test
  void aCancellationThatRacesTheCompletionLeavesOnlyWhatIsAllowed() throws Exception {
    Ledger worker = db.connect(Role.DISPATCHER);
    byte[] effect = "e".getBytes(StandardCharsets.UTF_8);
    for (int round = 0; round < 50; round++) {
      String id = "r" + round;
      long task = submitOne(id);
      List<String> answers =
          atOnce(
              2,
              i ->
                  i == 0
                      ? () -> operator.cancel("/test", id, false, "race").get(0).result().toString()
                      : () -> claimAndComplete(worker, task, effect));
      String state = db.column("select state from escapement.task where id = " + task).get(0);
      long effects = db.number("select count(*) from escapement.effect where task_id = " + task);
      String seen = answers.get(0) + " " + state + " " + effects;
      assertThat(seen)
          .isIn("CANCELLED_UNSTARTED CANCELLED 0", "REQUESTED CANCELLED 0", "TOO_LATE DONE 1");
    }
    operator.fold();
    assertThat(operator.audit()).isEmpty();
    assertThat(db.column("select used_tasks || ',' || used_bytes from escapement.budget"))
        .containsOnly("0,0");
  }

  @Test
  void theSameBatchesInAnyOrderDoNotDeadlock() throws Exception {
    Ledger ingest = db.connect(Role.INGEST);
    operator.setLimits(150, 1_000_000, "test");
    atOnce(
        6,
        i ->
            () -> {
              for (int round = 0; round < 10; round++) {
                Submission.Request[] batch = new Submission.Request[20];
                for (int n = 0; n < batch.length; n++) {
                  int turned = i % 2 == 0 ? n : batch.length - 1 - n;
                  batch[n] = request("r" + round + "n" + turned).tenant("t" + turned % 4).build();
                }
                db.submit(ingest, batch);
              }
              return 0;
            });
    assertThat(operator.audit()).isEmpty();
    assertThat(db.number("select count(*) from escapement.task")).isEqualTo(150);
  }

  private String claimAndComplete(Ledger worker, long task, byte[] effect) {
    ClaimAnswer answer = worker.claim("w/" + task, List.of("work"), List.of(task)).get(0);
    if (answer instanceof ClaimAnswer.Claimed claimed) {
      return worker
          .observe(List.of(Observation.completed(task, claimed.lease().attempt(), effect)))
          .get(0)
          .toString();
    }
    return answer.toString();
  }

  private long submitOne(String id) {
    try (Ledger ingest = Ledger.connect(db.config().withPoolSize(1), Role.INGEST)) {
      assertThat(db.submit(ingest, request(id).build())).containsExactly(Decision.ACCEPTED);
    }
    return db.number("select max(id) from escapement.task where state = 'SCHEDULED'");
  }

  /** Runs calls on threads of their own, begun together; answers in order. */
  private static <T> List<T> atOnce(int threads, IntFunction<Callable<T>> calls)
      throws InterruptedException, ExecutionException {
    CyclicBarrier start = new CyclicBarrier(threads);
    try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
      List<Future<T>> futures = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        Callable<T> call = calls.apply(i);
        futures.add(
            pool.submit(
                () -> {
                  start.await();
                  return call.call();
                }));
      }
      List<T> answers = new ArrayList<>();
      for (Future<T> future : futures) {
        answers.add(future.get());
      }
      return answers;
    }
  }
}
