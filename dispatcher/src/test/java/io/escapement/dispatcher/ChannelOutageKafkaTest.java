package io.escapement.dispatcher;

import static io.escapement.dispatcher.DispatcherFixture.LIMIT;
import static io.escapement.ledger.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.escapement.embedded.stub.StubScript;
import io.escapement.ledger.ChannelDefinition;
import io.escapement.ledger.PauseScope;
import io.escapement.ledger.Preference;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Channels that fail, hang or are not what they are said to be keep that to themselves. */
class ChannelOutageKafkaTest {

  private static final Duration TIMEOUT = ChannelFixture.TIMEOUT;

  @TempDir Path directory;
  private ChannelFixture world;

  @BeforeEach
  void open() throws Exception {
    world = new ChannelFixture(directory);
  }

  @AfterEach
  void close() {
    world.close();
  }

  @Test
  void anOutageMakesABacklogWaitInsteadOfUsingUpItsTries() throws Exception {
    world.define(ChannelDefinition.opaque("mail", TIMEOUT), world.calls(""));
    world.stub.defaultScript(List.of("refuse", "refuse", "refuse"), List.of());
    Dispatcher dispatcher =
        world.start(world.config().withOutages(new Outages(10, Duration.ofMillis(200))));
    world.fixture.submit(300, i -> request("m" + i).kind("mail"));
    await().atMost(LIMIT).until(() -> dispatcher.stats().outages().equals(List.of("mail")));
    world.db.execute("select escapement.pause('channel', 'mail', 'to look at it')");
    await().atMost(LIMIT).until(() -> dispatcher.stats().inHand() == 0);
    assertThat(number("state = 'FAILED'")).as("of 300").isLessThan(250);
    world.stub.reset();
    world.db.execute("select escapement.resume('channel', 'mail', 'go on')");
    long waiting = number("state = 'SCHEDULED'");
    assertThat(waiting).isPositive();
    await().atMost(LIMIT).until(() -> number("state = 'DONE'") >= waiting);
    await().atMost(LIMIT).until(() -> dispatcher.stats().outages().isEmpty());
  }

  @Test
  void negativeControlWithoutCareForOutagesTheBacklogIsLost() throws Exception {
    world.define(ChannelDefinition.opaque("mail", TIMEOUT), world.calls(""));
    world.stub.defaultScript(List.of("refuse", "refuse", "refuse"), List.of());
    world.start();
    world.fixture.submit(300, i -> request("m" + i).kind("mail"));
    await().atMost(LIMIT).until(() -> number("state = 'FAILED'") == 300);
  }

  @Test
  void aBurstOfRefusedCredentialsPausesTheChannelAndSaysSo() throws Exception {
    world.define(
        ChannelDefinition.opaque("mail", TIMEOUT),
        world.calls("").replace("refused = 503", "refused = 503,401,403"));
    world.stub.defaultScript(List.of("status:401", "status:403"), List.of());
    world.start(
        world
            .config()
            .withLimits(new LaneLimits(Map.of(), Map.of("mail", LaneLimit.ofConcurrency(2)))));
    world.fixture.submit(100, i -> request("m" + i).kind("mail"));
    await()
        .atMost(LIMIT)
        .until(
            () -> world.db.column("select name from escapement.paused"), List.of("mail")::equals);
    assertThat(world.db.column("select reason from escapement.paused").get(0))
        .contains("credentials", "HTTP 40");
    await().atMost(LIMIT).until(() -> number("state = 'CLAIMED'") == 0);
    assertThat(number("state = 'FAILED'")).isZero();
    assertThat(number("attempt > 0")).isLessThan(20);
    world.stub.reset();
    world.fixture.operator.resume(PauseScope.CHANNEL, "mail", "new credentials");
    await().atMost(LIMIT).until(() -> number("state = 'DONE'") == 100);
  }

  @Test
  void aProviderThatAsksToWaitIsNotCalledBefore() throws Exception {
    world.define(ChannelDefinition.opaque("mail", TIMEOUT), world.calls(""));
    world.start();
    world.submit(Map.of("wait", StubScript.calls("refuse:3")), id -> request(id).kind("mail"));
    world.awaitState("wait", "DONE");
    assertThat(
            world.db.number(
                "select count(*) from escapement.attempt b join escapement.attempt a"
                    + " on a.task_id = b.task_id and a.number = 1 and b.number = 2"
                    + " where b.claimed_at >= a.finished_at + interval '3 seconds'"))
        .isEqualTo(1);
  }

  /** A channel in Java that can be told how to misbehave. */
  private static final class Unruly implements Channel {
    final CountDownLatch release = new CountDownLatch(1);
    final AtomicInteger calls = new AtomicInteger();

    @Override
    public String name() {
      return "unruly";
    }

    @Override
    public SendResult send(Call call) throws Exception {
      calls.incrementAndGet();
      switch (call.task().eventId()) {
        case "throws" -> throw new java.io.IOException("broken pipe");
        case "dies" -> throw new StackOverflowError();
        case "hangs" -> {
          while (true) {
            try {
              release.await();
              return new SendResult.Accepted("too late");
            } catch (InterruptedException ignored) {
              // It does not listen.
            }
          }
        }
        default -> {
          return new SendResult.Accepted("fine");
        }
      }
    }
  }

  @Test
  void aChannelThatHangsThrowsOrDiesHarmsNobodyElse() {
    world.fixture.operator.defineChannel(
        ChannelDefinition.opaque("unruly", Duration.ofMillis(500)), "test");
    world.fixture.operator.defineKind(ChannelFixture.kind("unruly"), "test");
    Unruly unruly = new Unruly();
    Dispatcher dispatcher =
        world.fixture.start(
            world
                .config()
                .withLimits(new LaneLimits(Map.of(), Map.of("unruly", LaneLimit.ofConcurrency(2)))),
            Channels.of(List.of(unruly)),
            DispatcherFixture.handler(task -> new byte[0]));
    for (String id : List.of("hangs", "throws", "dies", "good")) {
      world.fixture.submit(1, i -> request(id).kind("unruly"));
    }
    world.fixture.submit(20, i -> request("local" + i));
    world.awaitState("good", "DONE");
    world.awaitState("hangs", "UNKNOWN parked");
    world.awaitState("throws", "UNKNOWN parked");
    world.awaitState("dies", "UNKNOWN parked");
    assertThat(world.outcomes("hangs")).containsExactly("TIMEOUT");
    assertThat(world.outcomes("throws")).containsExactly("IO_ERROR");
    assertThat(world.outcomes("dies")).containsExactly("IO_ERROR");
    await().atMost(LIMIT).until(() -> number("kind = 'work' and state = 'DONE'") == 20);
    assertThat(dispatcher.stats().overdueCalls()).isEqualTo(1);
    unruly.release.countDown();
    await().atMost(LIMIT).until(() -> dispatcher.stats().overdueCalls() == 0);
  }

  /** Calls that hang take their channel's share, and neither the handlers' threads nor others'. */
  @Test
  void aChannelThatHangsDelaysNeitherHandlersNorOtherChannels() throws Exception {
    world.define(ChannelDefinition.opaque("slow", TIMEOUT), world.calls(""));
    world.define(ChannelDefinition.opaque("mail", TIMEOUT), world.calls(""));
    Dispatcher dispatcher = world.start(DispatcherFixture.handler(task -> new byte[0]));
    await().atMost(LIMIT).until(() -> dispatcher.stats().slots() == DispatcherFixture.SLOTS);
    world.stub.defaultScript(List.of("hang"), List.of());
    world.fixture.submit(2_000, i -> request("s" + i).kind("slow"));
    await().atMost(LIMIT).until(() -> number("kind = 'slow' and attempt > 0") > 100);
    world.submit(Map.of("quick", StubScript.calls("accept")), id -> request(id).kind("mail"));
    world.fixture.submit(100, i -> request("local" + i));
    world.awaitState("quick", "DONE");
    await().atMost(LIMIT).until(() -> number("kind = 'work' and state = 'DONE'") == 100);
    assertThat(number("kind = 'slow' and attempt = 0")).as("still waits: the control").isPositive();
  }

  /** What the channel does before the call takes so long that the answer might come too late. */
  @Test
  void aCallThatNoLongerFitsIntoItsLeaseIsHandedBackUnmade() {
    AtomicInteger calls = new AtomicInteger();
    AtomicInteger looks = new AtomicInteger();
    CountDownLatch never = new CountDownLatch(1);
    Channel slow =
        new Channel() {
          @Override
          public String name() {
            return "slow";
          }

          @Override
          public String destination(Call call) {
            try {
              // Longer than the margin of half a second, shorter than the lease's renewal.
              return looks.incrementAndGet() == 1 && never.await(700, TimeUnit.MILLISECONDS)
                  ? "nowhere"
                  : "";
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
          }

          @Override
          public SendResult send(Call call) {
            calls.incrementAndGet();
            return new SendResult.Accepted(null);
          }
        };
    world.fixture.operator.defineChannel(
        ChannelDefinition.opaque("slow", Duration.ofSeconds(2)), "test");
    world.fixture.operator.defineKind(
        ChannelFixture.kind("slow").withLease(Duration.ofSeconds(3)), "test");
    world.fixture.submit(1, i -> request("late").kind("slow"));
    world.fixture.start(world.config(), Channels.of(List.of(slow)));
    world.awaitState("late", "DONE");
    assertThat(world.outcomes("late")).containsExactly("RELEASED", "ACCEPTED");
    assertThat(calls).hasValue(1);
    assertThat(number("tries_left = 2")).as("one of three tries is spent").isEqualTo(1);
  }

  @Test
  void aHostThatIsDownIsLeftAloneAndOtherHostsOfTheChannelAreNot() throws Exception {
    String dead;
    try (java.net.ServerSocket free = new java.net.ServerSocket(0)) {
      dead = "http://127.0.0.1:" + free.getLocalPort();
    }
    world.define(
        ChannelDefinition.opaque("hook", TIMEOUT),
        "url = {address}\nallow-private = true\n",
        ChannelFixture.kind("hook").byPreference("hook"));
    for (int i = 0; i < 60; i++) {
      String address = i % 2 == 0 ? dead + "/" : world.stub.messages() + "/hook";
      world.fixture.operator.setPreference(
          new Preference("tenant", "user" + i, "hook", address, true, null), "test");
    }
    Dispatcher dispatcher =
        world.start(
            world
                .config()
                .withOutages(new Outages(4, Duration.ofSeconds(2)))
                .withLimits(new LaneLimits(Map.of(), Map.of("hook", LaneLimit.ofConcurrency(2)))));
    world.fixture.submit(
        60, i -> request("h" + i).kind("hook").tenant("tenant").subject("user" + i));
    await().atMost(LIMIT).until(() -> number("state = 'DONE'") == 30);
    await()
        .atMost(LIMIT)
        .until(
            () ->
                world.db.number(
                        "select count(*) from escapement.attempt where outcome = 'RELEASED'"
                            + " and detail like 'held back: http://127.0.0.1:%'")
                    > 0);
    assertThat(dispatcher.stats().outages()).allMatch(one -> one.equals("hook to " + dead));
    assertThat(number("state = 'SCHEDULED' and tries_left = 3"))
        .as("wait without losing tries")
        .isPositive();
  }

  /** What waits for a channel is served tenant by tenant, as what waits for a handler is. */
  @Test
  void aTenantsBacklogOnAChannelDelaysAnotherTenantByItsShare() throws Exception {
    world.define(ChannelDefinition.opaque("mail", TIMEOUT), world.calls(""));
    world.stub.defaultScript(List.of("accept-delay:50"), List.of());
    Dispatcher dispatcher =
        world.start(
            DispatcherFixture.sized(world.config(), 1_000, 500, 8)
                .withLimits(new LaneLimits(Map.of(), Map.of("mail", LaneLimit.ofConcurrency(2)))));
    await().atMost(LIMIT).until(() -> dispatcher.stats().slots() == DispatcherFixture.SLOTS);
    world.fixture.submit(600, i -> request("a" + i).kind("mail").tenant("much"));
    await().atMost(LIMIT).until(() -> number("tenant = 'much' and state = 'DONE'") > 0);
    world.fixture.submit(5, i -> request("b" + i).kind("mail").tenant("little"));
    await().atMost(LIMIT).until(() -> number("tenant = 'little' and state = 'DONE'") == 5);
    assertThat(number("tenant = 'much' and state = 'SCHEDULED'"))
        .as("of the backlog that came before")
        .isGreaterThan(300);
  }

  @Test
  void aChannelThatTheLedgerKnowsOtherwiseIsRefusedAtTheStart() throws Exception {
    world.define(ChannelDefinition.queryable("asks", TIMEOUT, Duration.ZERO), world.calls(""));
    assertThatThrownBy(() -> world.start())
        .isInstanceOf(DispatcherException.class)
        .hasMessageContaining("channel 'asks' is QUERYABLE")
        .hasMessageContaining("query.url");
  }

  @Test
  void aChannelThatIsDefinedLaterIsServedFromThenOn() {
    world.fixture.start(world.config(), Channels.of(List.of(new Unruly())));
    world.fixture.operator.defineChannel(
        ChannelDefinition.opaque("unruly", Duration.ofSeconds(1)), "test");
    world.fixture.operator.defineKind(ChannelFixture.kind("unruly"), "test");
    world.fixture.submit(1, i -> request("good").kind("unruly"));
    world.awaitState("good", "DONE");
  }

  private long number(String condition) {
    return world.db.number("select count(*) from escapement.task where " + condition);
  }
}
