package io.escapement.ledger;

import static io.escapement.ledger.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;

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

/** Threads of one process; {@link ProcessContentionPostgresTest} has what takes several. */
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
  void oneIdentityAskedForTwelveTimesAtOnceIsAcceptedOnce() throws Exception {
    Ledger ingest = db.connect(Role.INGEST);
    Submission.Request same = request("same").build();
    List<Decision> decisions = atOnce(12, i -> () -> db.submit(ingest, same).get(0));
    assertThat(decisions).filteredOn(Decision.ACCEPTED::equals).hasSize(1);
    assertThat(decisions).filteredOn(Decision.REPLAY::equals).hasSize(11);
    assertThat(db.number("select count(*) from escapement.task")).isEqualTo(1);
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
