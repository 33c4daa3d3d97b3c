package io.escapement.dispatcher;

import static io.escapement.dispatcher.DispatcherFixture.LIMIT;
import static io.escapement.dispatcher.DispatcherFixture.SLOTS;
import static io.escapement.dispatcher.DispatcherFixture.handler;
import static io.escapement.dispatcher.DispatcherFixture.sized;
import static io.escapement.dispatcher.DispatcherFixture.timed;
import static io.escapement.dispatcher.DispatcherFixture.withKafka;
import static io.escapement.ledger.Requests.request;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.escapement.ledger.KindDefinition;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What becomes of the work of a dispatcher that is killed. */
class KilledDispatcherCrashTest {

  private static final Logger LOG = LoggerFactory.getLogger(KilledDispatcherCrashTest.class);
  private static final Duration LEASE = Duration.ofSeconds(2);

  /** How late a takeover may be: a second by design, the rest for a machine that is busy. */
  private static final Duration TOLERANCE = Duration.ofSeconds(10);

  /** The group misses a dead member only after this, so that nothing else can hide a timer. */
  private static final Duration SESSION = Duration.ofSeconds(45);

  private static final int PARTITIONS = 4;
  private static final int HELD = 24;

  @TempDir Path directory;
  private DispatcherFixture fixture;

  @BeforeEach
  void open() throws Exception {
    fixture = new DispatcherFixture(directory, PARTITIONS);
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  /** Calls something outside, and then its first attempt never ends. */
  static final class CallAndHang implements EffectHandler {
    @Override
    public String kind() {
      return "work";
    }

    @Override
    public HandlerResult handle(Task task) throws Exception {
      call(Path.of(System.getProperty("test.directory")), task);
      if (task.attempt() == 1) {
        new CountDownLatch(1).await();
      }
      return HandlerResult.done(task.value());
    }
  }

  /** Done at once. */
  static final class Done implements EffectHandler {
    @Override
    public String kind() {
      return "work";
    }

    @Override
    public HandlerResult handle(Task task) {
      return HandlerResult.done(task.value());
    }
  }

  /** What the world outside has seen: a line a call, with the task's key and the attempt. */
  private static void call(Path directory, Task task) throws Exception {
    Files.writeString(
        directory.resolve("calls"),
        task.idempotencyKey() + " " + task.attempt() + "\n",
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND);
  }

  /**
   * The other has slots whose tasks the first still runs. It takes none while the leases are
   * renewed, and all of them by the timers of their last leases: the next sweep and the next load
   * are twenty minutes away, and the group misses the dead one much later.
   */
  @Test
  void aRenewedLeaseIsNotStolenAndItsEndIsNoticedByATimer() {
    fixture.operator.defineKind(KindDefinition.local("work").withLease(LEASE), "test");
    fixture.submit(HELD, i -> request("n" + i));
    DispatcherProcess first =
        fixture.startProcess(
            "first",
            withKafka(
                sized(fixture.config(), 1_000, HELD, HELD),
                "session.timeout.ms",
                Long.toString(SESSION.toMillis())),
            CallAndHang.class);
    fixture.awaitState("CLAIMED", HELD);
    Dispatcher other =
        fixture.start(
            timed(fixture.config(), Duration.ofMinutes(40), Duration.ofMinutes(20)),
            handler(Task::value));
    await().atMost(LIMIT).until(() -> other.stats().slots() == SLOTS / 2 && first.slots() == 128);
    fixture.db.execute("create table public.shared as select clock_timestamp() as at");
    // Every lease that the other saw when it got its slots has ended by now, had it not been
    // renewed.
    await()
        .atMost(LIMIT)
        .until(
            () ->
                fixture.db.number(
                        "select count(*) from public.shared"
                            + " where at < clock_timestamp() - interval '6 s'")
                    == 1);
    assertThat(fixture.db.column("select distinct state || ' ' || attempt from escapement.task"))
        .containsExactly("CLAIMED 1");

    fixture.kill(first);
    fixture.db.execute(
        "create table public.killed as select id, slot, lease_until from escapement.task");
    // Of the partitions of the dead one nobody takes care yet: they are the control.
    await()
        .atMost(LIMIT)
        .until(
            () ->
                fixture.db.number(
                        "select count(*) from (select slot % 4 from escapement.task"
                            + " group by 1 having bool_and(state = 'DONE')) done")
                    >= PARTITIONS / 2);
    assertThat(fixture.db.number("select count(*) from escapement.task where state = 'CLAIMED'"))
        .as("held by nobody, in slots of a member that the group does not miss yet")
        .isPositive();
    String claimedAgain =
        "select count(*) from escapement.attempt a join public.killed k on k.id = a.task_id"
            + " where a.number = 2 and a.claimed_at";
    long again = fixture.db.number("select count(*) from escapement.attempt where number = 2");
    assertThat(fixture.db.number(claimedAgain + " < k.lease_until")).isZero();
    assertThat(
            fixture.db.number(
                claimedAgain + " <= k.lease_until + interval '" + TOLERANCE.toSeconds() + " s'"))
        .isEqualTo(again);
  }

  @Test
  void aWheelThatIsLostAtSomeMomentCostsNoTask() {
    long seed = Long.getLong("seed", System.nanoTime());
    String what = "seed " + seed;
    LOG.info("repeat with -Dseed={}", seed);
    SplittableRandom random = new SplittableRandom(seed);
    fixture.operator.defineKind(KindDefinition.local("work").withLease(LEASE), "test");
    Duration horizon = Duration.ofSeconds(2);
    DispatcherConfig shortSighted = timed(fixture.config(), horizon, Duration.ofMillis(500));
    DispatcherProcess lost = fixture.startProcess("lost", shortSighted, Done.class);
    await(what).atMost(LIMIT).until(() -> lost.slots() == SLOTS);
    Instant start = fixture.ingest.clock();
    // Half of them soon, half beyond the horizon for as long as the first lives.
    fixture.submit(
        1_000,
        i ->
            request("n" + i)
                .dueAt(
                    i % 2 == 0
                        ? start.plusMillis(500 + random.nextLong(4_000))
                        : start.plusMillis(10_000 + random.nextLong(2_000))));
    await(what).atMost(LIMIT).until(() -> lost.timers() >= 100);
    long moment = effects() + random.nextLong(100);
    await(what).atMost(LIMIT).until(() -> effects() >= moment);
    fixture.kill(lost);
    assertThat(waiting("due_at > clock_timestamp() + interval '" + horizon.toSeconds() + " s'"))
        .as(what + ": beyond its horizon")
        .isGreaterThan(100);
    // The control: the wheel is lost indeed, its tasks' time comes and nothing runs them.
    long done = effects();
    await(what)
        .atMost(LIMIT)
        .until(() -> waiting("due_at < clock_timestamp() - interval '100 ms'") > 0);
    assertThat(effects()).as(what).isEqualTo(done);

    var unused = fixture.startProcess("fresh", shortSighted, Done.class);
    fixture.awaitState("DONE", 1_000);
    assertThat(effects()).as(what).isEqualTo(1_000);
    assertThat(
            fixture.db.number(
                "select count(*) from escapement.attempt where outcome = 'COMPLETED'"))
        .as(what)
        .isEqualTo(1_000);
    assertThat(
            fixture.db.number("select count(*) from escapement.attempt where claimed_at < due_at"))
        .as(what)
        .isZero();
  }

  @Test
  void aCallThatIsRepeatedAfterACrashCarriesTheSameKey() throws Exception {
    fixture.operator.defineKind(KindDefinition.local("work").withLease(LEASE), "test");
    DispatcherProcess killed = fixture.startProcess("killed", fixture.config(), CallAndHang.class);
    fixture.submit(1, i -> request("call"));
    Path calls = directory.resolve("calls");
    await().atMost(LIMIT).until(() -> Files.exists(calls) && Files.size(calls) > 0);
    fixture.kill(killed);
    var unused = fixture.startProcess("second", fixture.config(), CallAndHang.class);
    fixture.awaitState("DONE", 1);

    List<String> seen = Files.readAllLines(calls, UTF_8);
    assertThat(seen).hasSize(2);
    assertThat(seen.stream().map(line -> line.substring(0, line.indexOf(' '))))
        .as("by the task's key the provider knows the second for the first")
        .containsOnly(seen.get(0).substring(0, seen.get(0).indexOf(' ')));
    assertThat(new HashSet<>(seen))
        .as("the control: with the attempt in the key there would be two effects")
        .hasSize(2);
  }

  private long effects() {
    return fixture.db.number("select count(*) from escapement.effect");
  }

  private long waiting(String condition) {
    return fixture.db.number(
        "select count(*) from escapement.task where state = 'SCHEDULED' and " + condition);
  }
}
