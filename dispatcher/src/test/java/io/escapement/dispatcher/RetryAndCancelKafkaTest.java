package io.escapement.dispatcher;

import static io.escapement.dispatcher.DispatcherFixture.LIMIT;
import static io.escapement.dispatcher.DispatcherFixture.handler;
import static io.escapement.ledger.Requests.request;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.escapement.ledger.CancelAnswer;
import io.escapement.ledger.KindDefinition;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How long a failed task waits, and what a cancellation can still take back. */
class RetryAndCancelKafkaTest {

  private static final Duration BACKOFF = Duration.ofMillis(200);

  @TempDir Path directory;
  private final Set<String> calls = ConcurrentHashMap.newKeySet();
  private final List<Instant> ends = new CopyOnWriteArrayList<>();
  private final CountDownLatch called = new CountDownLatch(1);
  private final CountDownLatch cancelled = new CountDownLatch(1);
  private DispatcherFixture fixture;

  @BeforeEach
  void open() throws Exception {
    fixture = new DispatcherFixture(directory, 2);
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void aRetryWaitsForItsBackoffWhichDoubles() {
    assertThat(gapsWithBackoff(BACKOFF))
        .hasSize(2)
        .satisfies(gaps -> assertThat(gaps.get(0)).isGreaterThanOrEqualTo(BACKOFF))
        .satisfies(gaps -> assertThat(gaps.get(1)).isGreaterThanOrEqualTo(BACKOFF.multipliedBy(2)));
    assertThat(fixture.db.column("select convert_from(bytes, 'UTF8') from escapement.effect"))
        .containsExactly("try 3");
  }

  /**
   * The control: it is the backoff that parts them, not the pace of the dispatcher. It is said of
   * the moment that the second try was due, which no slow machine moves.
   */
  @Test
  void withAnotherBackoffTheNextTryIsDueAtOnce() {
    assertThat(gapsWithBackoff(Duration.ofMillis(1))).hasSize(2);
    assertThat(
            fixture.db.number(
                "select count(*) from escapement.attempt a join escapement.attempt n"
                    + " on n.task_id = a.task_id and n.number = a.number + 1"
                    + " where n.due_at < a.finished_at + interval '100 ms'"))
        .isEqualTo(2);
  }

  /** The times from the end of a failing handler to the next claim, all by the database's clock. */
  private List<Duration> gapsWithBackoff(Duration base) {
    fixture.operator.defineKind(
        KindDefinition.local("work").withBackoff(base, Duration.ofSeconds(10), 0), "test");
    var unused =
        fixture.start(
            fixture.config(),
            handler(
                task -> {
                  if (task.attempt() < 3) {
                    ends.add(fixture.ingest.clock());
                    throw new IllegalStateException("not yet");
                  }
                  return ("try " + task.attempt()).getBytes(UTF_8);
                }));
    fixture.submit(1, i -> request("a"));
    fixture.awaitState("DONE", 1);
    assertThat(fixture.db.column("select outcome from escapement.attempt order by number"))
        .containsExactly("FAILED", "FAILED", "COMPLETED");
    List<Instant> claims = new ArrayList<>();
    for (String micros :
        fixture.db.column(
            "select (extract(epoch from claimed_at) * 1000000)::bigint from escapement.attempt"
                + " where number > 1 order by number")) {
      claims.add(Instant.EPOCH.plus(Long.parseLong(micros), ChronoUnit.MICROS));
    }
    return List.of(
        Duration.between(ends.get(0), claims.get(0)), Duration.between(ends.get(1), claims.get(1)));
  }

  @Test
  void aTaskThatHasUsedUpItsTriesIsFailedAndHasNoEffect() {
    fixture.operator.defineKind(
        KindDefinition.local("work").withBackoff(BACKOFF, Duration.ofSeconds(10), 0), "test");
    var unused =
        fixture.start(
            fixture.config(),
            handler(
                task -> {
                  if (task.eventId().equals("bad")) {
                    throw new IllegalStateException("never");
                  }
                  return task.value();
                }));
    fixture.submit(1, i -> request("bad").maxAttempts(3));
    fixture.submit(1, i -> request("good"));
    fixture.awaitState("FAILED", 1);
    fixture.awaitState("DONE", 1);
    assertThat(
            fixture.db.column(
                "select a.outcome from escapement.attempt a join escapement.task t"
                    + " on t.id = a.task_id where t.state = 'FAILED' order by a.number"))
        .containsExactly("FAILED", "FAILED", "FAILED");
    assertThat(
            fixture.db.column(
                "select t.state from escapement.effect e join escapement.task t"
                    + " on t.id = e.task_id"))
        .as("the other's is the control")
        .containsExactly("DONE");
  }

  /** The call can't be taken back; what was to be committed here is not. */
  @Test
  void aCancelAfterACallOutsideLeavesTheCallAndNoLocalEffect() throws Exception {
    var unused =
        fixture.start(
            fixture.config(),
            handler(
                task -> {
                  calls.add(task.idempotencyKey());
                  called.countDown();
                  awaitCancelled();
                  return task.value();
                }));
    fixture.submit(1, i -> request("a"));
    assertThat(called.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(fixture.operator.cancel("/test", "a", false, "test"))
        .extracting(CancelAnswer::result)
        .containsExactly(CancelAnswer.Result.REQUESTED);
    cancelled.countDown();
    fixture.awaitState("CANCELLED", 1);
    assertThat(fixture.db.number("select count(*) from escapement.effect")).isZero();
    assertThat(calls).hasSize(1);
  }

  /** The same in the completing transaction: what it wrote is undone, what it called was called. */
  @Test
  void aCancelOfARunningTransactionUndoesWhatItWrote() throws Exception {
    fixture.db.execute(
        "create table public.booking (id text primary key);"
            + "grant insert on public.booking to escapement_dispatcher");
    var unused = fixture.start(fixture.config(), booking());
    fixture.submit(2, i -> request(i == 0 ? "a" : "b"));
    await().atMost(LIMIT).until(() -> calls.size() == 2);
    assertThat(fixture.operator.cancel("/test", "a", false, "test"))
        .extracting(CancelAnswer::result)
        .containsExactly(CancelAnswer.Result.REQUESTED);
    cancelled.countDown();
    fixture.awaitState("CANCELLED", 1);
    fixture.awaitState("DONE", 1);
    assertThat(fixture.db.column("select id from public.booking"))
        .as("the one that was not cancelled is the control")
        .containsExactly("b");
    assertThat(fixture.db.number("select count(*) from escapement.effect")).isEqualTo(1);
    assertThat(calls).hasSize(2);
  }

  private TransactionalHandler booking() {
    return new TransactionalHandler() {
      @Override
      public String kind() {
        return "work";
      }

      @Override
      public HandlerResult handle(Task task, Connection connection) throws Exception {
        try (PreparedStatement insert =
            connection.prepareStatement("insert into public.booking values (?)")) {
          insert.setString(1, task.eventId());
          insert.executeUpdate();
        }
        calls.add(task.idempotencyKey());
        called.countDown();
        awaitCancelled();
        return HandlerResult.done(task.value());
      }
    };
  }

  /** An interrupt does not end it: what it then answers is to be refused. */
  private void awaitCancelled() {
    boolean done = false;
    while (!done) {
      try {
        done = cancelled.await(60, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        // Goes on.
      }
    }
  }
}
