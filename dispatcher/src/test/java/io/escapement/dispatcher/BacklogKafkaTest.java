package io.escapement.dispatcher;

import static io.escapement.dispatcher.DispatcherFixture.LIMIT;
import static io.escapement.dispatcher.DispatcherFixture.handler;
import static io.escapement.dispatcher.DispatcherFixture.sized;
import static io.escapement.dispatcher.DispatcherFixture.timed;
import static io.escapement.dispatcher.DispatcherFixture.withKafka;
import static io.escapement.ledger.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a backlog does to those who have none, and to memory. {@code -Pchaos} makes it a million
 * tasks that are drained through little room.
 */
class BacklogKafkaTest {

  private static final boolean LONG = Boolean.getBoolean("chaos");
  private static final int MANY = LONG ? 1_000_000 : 20_000;
  private static final int FEW = LONG ? 50_000 : 500;
  private static final int TENANTS = 7;
  private static final long BYTES = 1L << 40;
  private static final Duration DRAIN_LIMIT = LONG ? Duration.ofMinutes(30) : LIMIT;

  private static final int BACKLOG = 5_000;

  /** So much that the sweep, which reads a share of the room a slot, sees the whole backlog. */
  private static final int ROOM = 50_000;

  private static final int PARTITIONS = 2;
  private static final int ROUNDS = 5;
  private static final int A_ROUND = 10;

  /** Tasks that may be in hand at once; the order of claims is known but for these. */
  private static final int IN_HAND = 4;

  private static final int SERVED_A_ROUND = 3 * A_ROUND;

  @TempDir Path directory;
  private final Semaphore permits = new Semaphore(0);
  private final List<String> served = new ArrayList<>();
  private DispatcherFixture fixture;

  @BeforeEach
  void open() throws Exception {
    fixture = new DispatcherFixture(directory, PARTITIONS);
  }

  @AfterEach
  void close() {
    permits.release(BACKLOG);
    fixture.close();
  }

  /** Two tenants with one weight take turns: one with a backlog costs the other a turn each. */
  @Test
  void aTenantsBacklogDelaysAnothersTaskByAFewClaimsAndNotByItsLength() {
    List<Integer> turns = turnsOfTheNew("rival");
    assertThat(turns).hasSize(ROUNDS * A_ROUND);
    // What was in hand when they came, and as many that overtake each other in their handlers.
    assertThat(turns)
        .allSatisfy(turn -> assertThat(turn).isLessThanOrEqualTo(2 * A_ROUND + 2 * IN_HAND));
  }

  /** The control: in the backlog's own line the new ones wait for all of it. */
  @Test
  void inOneTenantsLineNewTasksWaitForTheBacklog() {
    assertThat(turnsOfTheNew("giant")).isEmpty();
  }

  /** No hint tells of the new ones, and the backlog alone is five times what may be known. */
  @Test
  void aBacklogThatDoesNotFitLeavesRoomForAnothersTasks() {
    servesTheNewBesideABacklog(fixture.config(), () -> {});
  }

  /** The same by hints alone: there is no sweep in time. */
  @Test
  void aHintIsHeededThoughABacklogIsNotKnownWhole() {
    servesTheNewBesideABacklog(
        timed(fixture.config(), Duration.ofHours(1), Duration.ofMinutes(30)),
        () -> fixture.hint("rival", PARTITIONS));
  }

  private void servesTheNewBesideABacklog(DispatcherConfig config, Runnable tell) {
    int room = BACKLOG / 5;
    fixture.submit(BACKLOG, i -> request("old" + i).tenant("giant"));
    Dispatcher dispatcher =
        fixture.start(
            sized(config, room, IN_HAND, IN_HAND),
            handler(
                task -> {
                  permits.acquire();
                  return note(task);
                }));
    awaitKnown(dispatcher, room / 2);
    fixture.submit(A_ROUND, i -> request("new" + i).tenant("rival"));
    tell.run();
    awaitKnown(dispatcher, room / 2 + A_ROUND);
    permits.release(SERVED_A_ROUND);
    await().atMost(LIMIT).until(() -> served().size() == SERVED_A_ROUND);
    assertThat(served().stream().filter(one -> one.startsWith("new"))).hasSize(A_ROUND);
  }

  /**
   * New tasks come in rounds on top of a backlog, and after each round some tasks are served.
   *
   * @return for each new task served, how many were served since it was known
   */
  private List<Integer> turnsOfTheNew(String tenant) {
    fixture.submit(BACKLOG, i -> request("old" + i).tenant("giant"));
    Dispatcher dispatcher =
        fixture.start(
            sized(fixture.config(), ROOM, IN_HAND, IN_HAND),
            handler(
                task -> {
                  permits.acquire();
                  return note(task);
                }));
    List<Integer> turns = new ArrayList<>();
    int known = BACKLOG;
    int ended = 0;
    awaitKnown(dispatcher, known - ended);
    for (int round = 0; round < ROUNDS; round++) {
      String prefix = "new" + round + "-";
      fixture.submit(A_ROUND, i -> request(prefix + i).tenant(tenant));
      known += A_ROUND;
      awaitKnown(dispatcher, known - ended);
      permits.release(SERVED_A_ROUND);
      int before = ended;
      ended += SERVED_A_ROUND;
      int until = ended;
      await().atMost(LIMIT).until(() -> served().size() == until);
      List<String> now = served().subList(before, until);
      for (int i = 0; i < now.size(); i++) {
        if (now.get(i).startsWith(prefix)) {
          turns.add(i + 1);
        }
      }
      assertThat(now.stream().filter(one -> one.startsWith("new")).count())
          .as("others than this round's")
          .isEqualTo(now.stream().filter(one -> one.startsWith(prefix)).count());
    }
    return turns;
  }

  private byte[] note(Task task) {
    synchronized (served) {
      served.add(task.eventId());
    }
    return task.value();
  }

  private List<String> served() {
    synchronized (served) {
      return new ArrayList<>(served);
    }
  }

  private static void awaitKnown(Dispatcher dispatcher, int count) {
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(dispatcher.stats().ready() + dispatcher.stats().inHand())
                    .as(dispatcher.stats().toString())
                    .isEqualTo(count));
  }

  @Test
  void manyDueTasksAreDrainedThroughRoomForFew() {
    fixture.operator.setLimits(MANY, BYTES, "room for all of them");
    for (int t = 0; t < TENANTS; t++) {
      fixture.operator.setTenant("tenant" + t, MANY, BYTES, 1, "room for all of them");
    }
    fixture.submit(MANY, i -> request("n" + i).tenant("tenant" + i % TENANTS));
    // Nobody is killed here, and reading so much may starve a heartbeat.
    DispatcherConfig config = withKafka(fixture.config(), "session.timeout.ms", "30000");
    try (Dispatcher roomy =
        fixture.start(
            sized(config, MANY, 8, 8),
            handler(
                task -> {
                  permits.acquire();
                  return task.value();
                }))) {
      await("the control: without the limit far more is in memory")
          .atMost(DRAIN_LIMIT)
          .until(() -> roomy.stats().ready() > 2 * FEW);
      permits.release(8);
    }
    Dispatcher narrow = fixture.start(sized(config, FEW, 128, 8), handler(Task::value));
    AtomicInteger most = new AtomicInteger();
    await()
        .atMost(DRAIN_LIMIT)
        .until(
            () -> {
              DispatcherStats now = narrow.stats();
              most.accumulateAndGet(now.ready() + now.timers(), Math::max);
              return outstanding() == 0;
            });
    assertThat(most.get()).isPositive().isLessThanOrEqualTo(FEW);
    assertThat(fixture.db.number("select count(*) from escapement.task where state = 'DONE'"))
        .isEqualTo(MANY);
    assertThat(fixture.db.number("select count(*) from escapement.effect")).isEqualTo(MANY);
    assertThat(
            fixture.db.number(
                "select count(*) from escapement.attempt where outcome = 'COMPLETED'"))
        .as("each done once")
        .isEqualTo(MANY);
  }

  /** What has not ended, as the budget counts it: no task is read, however many there are. */
  private long outstanding() {
    return fixture.db.number(
        "select used_tasks - coalesce((select sum(tasks) from escapement.release_slip), 0)"
            + " from escapement.budget where tenant = ''");
  }
}
