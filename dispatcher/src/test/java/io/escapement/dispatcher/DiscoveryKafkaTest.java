package io.escapement.dispatcher;

import static io.escapement.dispatcher.DispatcherFixture.LIMIT;
import static io.escapement.dispatcher.DispatcherFixture.handler;
import static io.escapement.dispatcher.DispatcherFixture.timed;
import static io.escapement.ledger.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The two ways in which due work is found. */
class DiscoveryKafkaTest {

  private static final Duration NEVER = Duration.ofMinutes(30);
  private static final Duration HOUR = Duration.ofHours(1);

  @TempDir static Path directory;

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
  void pollingFindsWhatIsDueWithoutTimersAndWithoutASweep() {
    fixture.submit(1, i -> request("first"));
    Dispatcher dispatcher =
        fixture.start(
            timed(fixture.config(), HOUR, NEVER)
                .withDiscovery(new Discovery.Poll(Duration.ofMillis(50))),
            handler(Task::value));
    fixture.awaitState("DONE", 1);
    fixture.submit(50, i -> request("n" + i).dueAt(Instant.now().plusMillis(20L * i)));
    fixture.awaitState("DONE", 51);
    assertThat(dispatcher.stats().notDue()).isZero();
    assertThat(dispatcher.stats().timers()).isZero();
    assertThat(
            fixture.db.number("select count(*) from escapement.attempt where claimed_at < due_at"))
        .isZero();
  }

  /**
   * The control: the wheel alone, without a sweep and without hints, does not hear of new tasks.
   */
  @Test
  void theWheelDoesNotPoll() {
    fixture.submit(1, i -> request("first"));
    fixture.submit(1, i -> request("later").dueAt(Instant.now().plusMillis(1_500)));
    Dispatcher dispatcher =
        fixture.start(timed(fixture.config(), HOUR, NEVER), handler(Task::value));
    await().atMost(LIMIT).until(() -> dispatcher.stats().done() == 1);
    fixture.submit(1, i -> request("unheard"));
    fixture.awaitState("DONE", 2);
    assertThat(
            fixture.db.column(
                "select id from escapement.intent i where exists (select from"
                    + " escapement.task t where t.id = i.id and t.state = 'SCHEDULED')"))
        .hasSize(1);
  }
}
