package io.escapement.dispatcher;

import static io.escapement.dispatcher.DispatcherFixture.LIMIT;
import static io.escapement.ledger.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.escapement.ledger.KindDefinition;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What one process runs at once, by kind and by channel. */
class LimitsKafkaTest {

  private static final int ROOM = 400;

  @TempDir static Path directory;

  private final Semaphore permits = new Semaphore(0);
  private final CountDownLatch never = new CountDownLatch(1);
  private final Map<String, AtomicInteger> running = new ConcurrentHashMap<>();
  private final Map<String, AtomicInteger> most = new ConcurrentHashMap<>();
  private DispatcherFixture fixture;

  @BeforeEach
  void open() throws Exception {
    fixture = new DispatcherFixture(directory, 2);
    for (String kind : new String[] {"slow", "quick"}) {
      fixture.operator.defineKind(KindDefinition.local(kind), "test");
    }
  }

  @AfterEach
  void close() {
    permits.release(1_000_000);
    fixture.close();
  }

  @Test
  void aKindAtItsLimitWaitsWithoutAnAttemptAndKeepsNoOtherWaiting() {
    // Far more than is kept in memory, and due before the others.
    fixture.submit(3 * ROOM, i -> request("slow" + i).kind("slow").tenant("one"));
    fixture.submit(100, i -> request("quick" + i).kind("quick").tenant("one"));
    Dispatcher dispatcher =
        start(new LaneLimits(Map.of("slow", LaneLimit.ofConcurrency(2)), Map.of()));
    awaitDone("quick", 100);
    assertThat(done("slow")).isZero();
    await().atMost(LIMIT).until(() -> dispatcher.stats().throttled() > 0);
    assertThat(fixture.db.number("select sum(attempt) from escapement.task where kind = 'slow'"))
        .as("what waits costs no attempt")
        .isEqualTo(2);
    permits.release(3 * ROOM);
    awaitDone("slow", 3 * ROOM);
    assertThat(most("slow")).isEqualTo(2);
    assertThat(fixture.db.number("select count(*) from escapement.attempt"))
        .isEqualTo(3 * ROOM + 100);
  }

  /** The control: without a limit more run at once, and the slow ones are in the others' way. */
  @Test
  void withoutALimitAKindTakesEveryThread() {
    fixture.submit(3 * ROOM, i -> request("slow" + i).kind("slow").tenant("one"));
    fixture.submit(100, i -> request("quick" + i).kind("quick").tenant("one"));
    start(LaneLimits.NONE);
    await().atMost(LIMIT).until(() -> most("slow") == 8);
    assertThat(done("quick")).isZero();
  }

  /** Handlers have been quick so far, so many are claimed; then those that run do not end. */
  @Test
  void whatWaitsLongForAThreadIsHandedBackWithoutCostingAnAttempt() {
    fixture.operator.defineKind(KindDefinition.local("slow").withMaxAttempts(1), "test");
    fixture.submit(300, i -> request("quick" + i).kind("quick"));
    Dispatcher dispatcher = start(LaneLimits.NONE);
    awaitDone("quick", 300);
    fixture.submit(60, i -> request("slow" + i).kind("slow"));
    await("more are claimed than can run: the control")
        .atMost(LIMIT)
        .until(() -> dispatcher.stats().claimed() > 300 + 8);
    await().atMost(LIMIT).until(() -> dispatcher.stats().inHand() == 8);
    permits.release(60);
    awaitDone("slow", 60);
  }

  /** Two of four threads are the other queue's, whatever the first one has to do. */
  @Test
  void aQueuesSlowBacklogLeavesAnotherQueueItsThreads() throws Exception {
    fixture.operator.defineKind(
        new KindDefinition(
            "other",
            "second",
            KindDefinition.Routing.FIXED,
            List.of("local"),
            5,
            Duration.ofSeconds(30),
            Duration.ofMinutes(5),
            Duration.ofSeconds(1),
            Duration.ofSeconds(1),
            0,
            KindDefinition.Exhaustion.FAILED),
        "test");
    fixture.submit(40, i -> request("quick" + i).kind("quick"));
    Dispatcher dispatcher =
        fixture.start(
            fixture.alsoServing(DispatcherFixture.sized(fixture.config(), ROOM, 64, 4), "second"),
            handler("slow", true),
            handler("other", true),
            new EffectHandler() {
              @Override
              public String kind() {
                return "quick";
              }

              @Override
              public HandlerResult handle(Task task) throws InterruptedException {
                return HandlerResult.done(
                    new byte[] {(byte) (never.await(150, TimeUnit.MILLISECONDS) ? 1 : 0)});
              }
            });
    // From these the process learns that handlers take long, so that none are claimed ahead.
    awaitDone("quick", 40);
    fixture.submit(200, i -> request("slow" + i).kind("slow"));
    await().atMost(LIMIT).until(() -> most("slow") == 4);
    fixture.submit(20, i -> request("other" + i).kind("other"));
    await("claimed though every thread is busy")
        .atMost(LIMIT)
        .until(
            () ->
                fixture.db.number(
                        "select count(*) from escapement.task where state = 'CLAIMED' and kind = 'other'")
                    >= 2);
    assertThat(done("slow")).isZero();
    permits.release(220);
    awaitDone("other", 20);
    awaitDone("slow", 200);
    assertThat(dispatcher.stats().troubles()).isEmpty();
  }

  @Test
  void aLedgerThatFailsWhileTasksAreChosenCostsNoPermit() {
    fixture.submit(50, i -> request("slow" + i).kind("slow"));
    DispatcherConfig config = DispatcherFixture.sized(fixture.config(), 10 * ROOM, 64, 8);
    Dispatcher dispatcher =
        fixture.start(
            config.withLimits(new LaneLimits(Map.of("slow", LaneLimit.ofConcurrency(2)), Map.of())),
            handler("slow", true));
    await().atMost(LIMIT).until(() -> dispatcher.stats().throttled() == 48);
    fixture.db.execute("revoke execute on function escapement.lanes_of from escapement_dispatcher");
    fixture.submit(50, i -> request("more" + i).kind("slow"));
    await().atMost(LIMIT).until(() -> !dispatcher.stats().troubles().isEmpty());
    // Room for tasks set aside, in turns that fail when they ask about the new ones.
    permits.release(2);
    awaitDone("slow", 2);
    await().atMost(LIMIT).until(() -> dispatcher.stats().inHand() == 0);
    fixture.db.execute("grant execute on function escapement.lanes_of to escapement_dispatcher");
    permits.release(98);
    awaitDone("slow", 100);
    assertThat(most("slow")).isEqualTo(2);
  }

  @Test
  void aChannelsLimitIsSharedByItsKinds() {
    permits.release(1_000);
    fixture.submit(100, i -> request("slow" + i).kind("slow"));
    fixture.submit(100, i -> request("quick" + i).kind("quick"));
    start(new LaneLimits(Map.of(), Map.of("local", LaneLimit.ofConcurrency(1))));
    awaitDone("slow", 100);
    awaitDone("quick", 100);
    assertThat(most("all")).isEqualTo(1);
  }

  @Test
  void aRateSpreadsTheStarts() {
    permits.release(1_000);
    fixture.submit(40, i -> request("slow" + i).kind("slow"));
    start(new LaneLimits(Map.of("slow", new LaneLimit(100, 10)), Map.of()));
    awaitDone("slow", 40);
    // Ten may start together; after that ten a second, by the database's clock.
    assertThat(
            fixture.db.number(
                "select (extract(epoch from max(claimed_at) - min(claimed_at)) * 1000)::bigint"
                    + " from escapement.attempt"))
        .isGreaterThanOrEqualTo(2_900);
  }

  private Dispatcher start(LaneLimits limits) {
    return fixture.start(
        DispatcherFixture.sized(fixture.config(), ROOM, 64, 8).withLimits(limits),
        handler("slow", true),
        handler("quick", false));
  }

  private TaskHandler handler(String kind, boolean waits) {
    return new EffectHandler() {
      @Override
      public String kind() {
        return kind;
      }

      @Override
      public HandlerResult handle(Task task) throws InterruptedException {
        enter(kind);
        enter("all");
        try {
          if (waits) {
            permits.acquire();
          }
          return HandlerResult.done(new byte[0]);
        } finally {
          counter("all").decrementAndGet();
          counter(kind).decrementAndGet();
        }
      }
    };
  }

  private void enter(String what) {
    int now = counter(what).incrementAndGet();
    most.computeIfAbsent(what, w -> new AtomicInteger()).accumulateAndGet(now, Math::max);
  }

  private AtomicInteger counter(String what) {
    return running.computeIfAbsent(what, w -> new AtomicInteger());
  }

  private int most(String what) {
    return most.getOrDefault(what, new AtomicInteger()).get();
  }

  private long done(String kind) {
    return fixture.db.number(
        "select count(*) from escapement.task where state = 'DONE' and kind = '" + kind + "'");
  }

  private void awaitDone(String kind, long count) {
    await().atMost(LIMIT).until(() -> done(kind) == count);
  }
}
