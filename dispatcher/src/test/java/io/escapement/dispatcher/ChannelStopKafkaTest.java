package io.escapement.dispatcher;

import static io.escapement.dispatcher.DispatcherFixture.LIMIT;
import static io.escapement.ledger.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.escapement.ledger.CancelAnswer;
import io.escapement.ledger.ChannelDefinition;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Calls that are under way when something else happens: what they learn is not thrown away. */
class ChannelStopKafkaTest {

  /** Answers when it is told to. */
  private static final class Gate implements Channel {
    final CountDownLatch open = new CountDownLatch(1);
    final AtomicInteger begun = new AtomicInteger();
    final AtomicInteger interrupted = new AtomicInteger();
    final AtomicInteger looks = new AtomicInteger();

    @Override
    public String name() {
      return "gate";
    }

    @Override
    public String destination(Call call) {
      if (call.task().eventId().equals("nowhere") && looks.incrementAndGet() == 1) {
        throw new IllegalStateException("not now");
      }
      return "";
    }

    @Override
    @SuppressWarnings("NullAway") // What a channel must not do, and may.
    public SendResult send(Call call) throws InterruptedException {
      begun.incrementAndGet();
      if (call.task().eventId().equals("null")) {
        return null;
      }
      try {
        open.await();
      } catch (InterruptedException e) {
        interrupted.incrementAndGet();
        throw e;
      }
      return new SendResult.Accepted("m1");
    }
  }

  @TempDir Path directory;
  private final Gate gate = new Gate();
  private ChannelFixture world;

  @BeforeEach
  void open() throws Exception {
    world = new ChannelFixture(directory);
    world.fixture.operator.defineChannel(
        ChannelDefinition.opaque("gate", Duration.ofSeconds(30)), "test");
    world.fixture.operator.defineKind(
        ChannelFixture.kind("gate").withLease(Duration.ofSeconds(40)), "test");
  }

  @AfterEach
  void close() {
    gate.open.countDown();
    world.close();
  }

  @Test
  void aStopWaitsForTheAnswer() throws Exception {
    Dispatcher dispatcher = start(world.config());
    world.fixture.submit(1, i -> request("a").kind("gate"));
    await().atMost(LIMIT).until(() -> gate.begun.get() == 1);
    Thread stop = Thread.ofPlatform().start(dispatcher::close);
    await().atMost(LIMIT).until(() -> dispatcher.stats().stopping());
    gate.open.countDown();
    stop.join();
    assertThat(world.outcomes("a")).containsExactly("ACCEPTED");
    assertThat(gate.interrupted).hasValue(0);
  }

  @Test
  void aStopThatWaitsNoLongerWritesDownThatNobodyKnows() {
    Dispatcher dispatcher =
        start(DispatcherFixture.draining(world.config(), Duration.ofMillis(100)));
    world.fixture.submit(1, i -> request("a").kind("gate"));
    await().atMost(LIMIT).until(() -> gate.begun.get() == 1);
    dispatcher.close();
    assertThat(world.outcomes("a")).containsExactly("IO_ERROR");
    assertThat(world.state("a")).isEqualTo("UNKNOWN parked");
    assertThat(gate.interrupted).hasValue(1);
  }

  @Test
  void aCancellationDoesNotInterruptACallThatRuns() throws Exception {
    world.fixture.operator.defineKind(
        ChannelFixture.kind("gate").withLease(Duration.ofSeconds(31)), "test");
    start(world.config());
    world.fixture.submit(1, i -> request("a").kind("gate"));
    await().atMost(LIMIT).until(() -> gate.begun.get() == 1);
    assertThat(
            world.fixture.operator.cancel(
                world.db.column("select namespace from escapement.intent").get(0),
                "a",
                false,
                "test"))
        .extracting(CancelAnswer::result)
        .extracting(Enum::name)
        .containsExactly("REQUESTED");
    // The next renewal tells this process of it.
    await()
        .atMost(LIMIT)
        .until(
            () ->
                world.db.number(
                        "select count(*) from escapement.task"
                            + " where lease_until > claimed_at + interval '35 seconds'")
                    == 1);
    gate.open.countDown();
    world.awaitState("a", "DONE");
    assertThat(world.outcomes("a")).containsExactly("ACCEPTED");
    assertThat(gate.interrupted).hasValue(0);
  }

  @Test
  void aChannelsOwnMistakesAreNotGuessedAway() {
    gate.open.countDown();
    start(world.config());
    for (String id : List.of("null", "nowhere")) {
      world.fixture.submit(1, i -> request(id).kind("gate"));
    }
    world.awaitState("null", "UNKNOWN parked");
    world.awaitState("nowhere", "DONE");
    assertThat(world.outcomes("null")).containsExactly("IO_ERROR");
    assertThat(world.outcomes("nowhere")).containsExactly("RELEASED", "ACCEPTED");
  }

  /** Handlers that are all busy, with a backlog, keep no call waiting. */
  @Test
  void aBacklogOfHandlersWorkDoesNotDelayACall() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    world.fixture.start(
        world.config(),
        Channels.of(List.of(gate)),
        DispatcherFixture.handler(
            task -> new byte[] {(byte) (release.await(1, TimeUnit.MINUTES) ? 1 : 0)}));
    gate.open.countDown();
    world.fixture.submit(2_000, i -> request("local" + i));
    await().atMost(LIMIT).until(() -> number("kind = 'work' and state = 'CLAIMED'") == 8);
    world.fixture.submit(10, i -> request("call" + i).kind("gate"));
    await().atMost(LIMIT).until(() -> number("kind = 'gate' and state = 'DONE'") == 10);
    assertThat(number("kind = 'work' and state = 'DONE'")).isZero();
    release.countDown();
    await().atMost(LIMIT).until(() -> number("kind = 'work' and state = 'DONE'") == 2_000);
  }

  private Dispatcher start(DispatcherConfig config) {
    return world.fixture.start(config, Channels.of(List.of(gate)));
  }

  private long number(String condition) {
    return world.db.number("select count(*) from escapement.task where " + condition);
  }
}
