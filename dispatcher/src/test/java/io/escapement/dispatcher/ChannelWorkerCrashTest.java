package io.escapement.dispatcher;

import static io.escapement.dispatcher.DispatcherFixture.LIMIT;
import static io.escapement.ledger.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.escapement.embedded.stub.StubScript;
import io.escapement.ledger.ChannelDefinition;
import io.escapement.ledger.Resolution;
import io.escapement.ledger.Resolved;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Workers that are killed or frozen while a provider has what they sent. */
class ChannelWorkerCrashTest {

  private static final Duration TIMEOUT = ChannelFixture.TIMEOUT;

  @TempDir Path directory;
  private ChannelFixture world;

  /** Does no work of its own. */
  static final class Nothing implements EffectHandler {
    @Override
    public String kind() {
      return "nothing";
    }

    @Override
    public HandlerResult handle(Task task) {
      return HandlerResult.done(new byte[0]);
    }
  }

  @BeforeEach
  void open() throws Exception {
    world = new ChannelFixture(directory);
    world.define(ChannelDefinition.idempotent("keys", TIMEOUT, null), world.calls(""));
    world.define(
        ChannelDefinition.queryable("asks", TIMEOUT, Duration.ofMillis(100)),
        world.callsAndQueries(""));
    world.define(
        ChannelDefinition.opaque("blind", TIMEOUT),
        world.calls("?dedupe=false").replace("replay = 200\n", ""));
  }

  @AfterEach
  void close() {
    world.close();
  }

  @Test
  void whatAKilledWorkersProviderAcceptedIsFoundOutWhenTheLeaseIsOver() {
    submit("keyed", "keys", "accept-hang");
    submit("asked", "asks", "accept-hang");
    DispatcherProcess killed = process("killed");
    await()
        .atMost(LIMIT)
        .until(() -> world.counts("keyed").delivered() + world.counts("asked").delivered() == 2);
    world.fixture.kill(killed);
    world.start();
    world.awaitState("keyed", "DONE");
    world.awaitState("asked", "DONE");
    assertThat(world.outcomes("keyed")).containsExactly("LEASE_EXPIRED", "ACCEPTED_REPLAY");
    assertThat(world.outcomes("asked")).containsExactly("LEASE_EXPIRED", "QUERY_FOUND");
    assertThat(List.of(world.counts("keyed").calls(), world.counts("keyed").delivered()))
        .containsExactly(2, 1);
    assertThat(List.of(world.counts("asked").calls(), world.counts("asked").delivered()))
        .containsExactly(1, 1);
    assertThat(
            world.db.number(
                "select count(*) from escapement.attempt b join escapement.attempt a"
                    + " on a.task_id = b.task_id and a.number = 1 and b.number = 2"
                    + " where b.claimed_at < a.claimed_at + interval '6 seconds'"))
        .as("taken over before the lease was over")
        .isZero();
  }

  @Test
  void aFrozenWorkersLateNewsStandBesideWhatTheOtherFoundOut() {
    submit("late", "keys", "accept-hang");
    DispatcherProcess frozen = process("frozen");
    await().atMost(LIMIT).until(() -> world.counts("late").delivered() == 1);
    frozen.freeze();
    world.start();
    world.awaitState("late", "DONE");
    frozen.thaw();
    await()
        .atMost(LIMIT)
        .until(
            () ->
                world.db.number(
                        "select count(*) from escapement.attempt where late_outcome = 'TIMEOUT'")
                    == 1);
    assertThat(world.outcomes("late")).containsExactly("LEASE_EXPIRED", "ACCEPTED_REPLAY");
    assertThat(world.state("late")).isEqualTo("DONE");
    assertThat(world.counts("late").delivered()).isEqualTo(1);
    world.db.execute(
        "update escapement.task set state = 'UNKNOWN', uncertain = true, first_sent_at = now()");
    assertThat(world.fixture.operator.audit())
        .as("the control: a completion by id only turns DONE back, and the audit sees it")
        .isNotEmpty();
    world.db.execute(
        "update escapement.task set state = 'DONE', uncertain = false, first_sent_at = null");
  }

  /** Two claims of one attempt, as if the claim did not lock: the provider sees both. */
  @Test
  void negativeControlATaskThatIsClaimedTwiceIsSentTwice() {
    submit("twice", "blind", "accept-hang");
    world.start();
    await().atMost(LIMIT).until(() -> world.counts("twice").delivered() == 1);
    world.db.execute(
        "update escapement.task set state = 'SCHEDULED', due_at = now(), action = null,"
            + " claimed_at = null, lease_owner = null, lease_until = null, first_sent_at = null");
    await().atMost(LIMIT).until(() -> world.counts("twice").delivered() == 2);
    world.awaitSettled(LIMIT);
    assertThat(world.fixture.operator.audit()).as("the audit sees it too").isNotEmpty();
    world.db.execute("update escapement.attempt set number = 1");
    world.db.execute("update escapement.task set attempt = 1");
  }

  @Test
  void aPersonsWordCountsOnce() {
    submit("parked", "blind", "accept-drop");
    submit("both", "blind", "accept-drop");
    world.start();
    world.awaitState("parked", "UNKNOWN parked");
    world.awaitState("both", "UNKNOWN parked");
    long parked = task("parked");
    assertThat(world.fixture.operator.resolve(parked, Resolution.DONE, "it was in their log"))
        .isEqualTo(Resolved.DONE);
    assertThat(world.fixture.operator.resolve(parked, Resolution.FAILED, "no"))
        .isEqualTo(Resolved.NOT_PARKED);
    assertThat(world.outcomes("parked")).containsExactly("IO_ERROR", "MANUAL_DONE");
    long both = task("both");
    List<CompletableFuture<Resolved>> words =
        Stream.of(Resolution.DONE, Resolution.FAILED)
            .map(
                word ->
                    CompletableFuture.supplyAsync(
                        () -> world.fixture.operator.resolve(both, word, "at once")))
            .toList();
    assertThat(words.stream().map(CompletableFuture::join))
        .hasSize(2)
        .containsOnlyOnce(Resolved.NOT_PARKED);
    assertThat(world.outcomes("both")).hasSize(2);
    assertThat(world.counts("both").calls()).isEqualTo(1);
  }

  private long task(String eventId) {
    return world.db.number(
        "select t.id from escapement.task t join escapement.intent i on i.id = t.intent_id"
            + " where i.event_id = '"
            + eventId
            + "'");
  }

  private void submit(String id, String channel, String... calls) {
    world.submit(Map.of(id, StubScript.calls(calls)), any -> request(any).kind(channel));
  }

  private DispatcherProcess process(String name) {
    return world.fixture.startProcess(name, world.fixture.config(), Nothing.class);
  }
}
