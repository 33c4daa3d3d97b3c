package io.escapement.dispatcher;

import static io.escapement.dispatcher.DispatcherFixture.LIMIT;
import static io.escapement.dispatcher.DispatcherFixture.handler;
import static io.escapement.ledger.Requests.request;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.escapement.ledger.KindDefinition;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A dispatcher stands still past its lease and then goes on as if nothing had happened. */
class FrozenDispatcherCrashTest {

  private static final String THE_OTHERS =
      "select count(*) from escapement.effect where bytes = 'the other' and attempt = 2";

  @TempDir Path directory;
  private DispatcherFixture fixture;

  @BeforeEach
  void open() throws Exception {
    fixture = new DispatcherFixture(directory, 2);
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  /** Begins, and ends with an effect of its own when it is told to, whatever else it is told. */
  static final class Stubborn implements EffectHandler {
    @Override
    public String kind() {
      return "work";
    }

    @Override
    public HandlerResult handle(Task task) throws Exception {
      Path directory = Path.of(System.getProperty("test.directory"));
      Files.createFile(directory.resolve("begun"));
      Path go = directory.resolve("go");
      // It means to end its work: join() waits on through interrupts, which are then forgotten.
      CompletableFuture.runAsync(() -> await().forever().until(() -> Files.exists(go))).join();
      var unused = Thread.interrupted();
      return HandlerResult.done("the late one".getBytes(UTF_8));
    }
  }

  @Test
  void aLateCommitIsRefusedAndTheOthersEffectStays() throws Exception {
    fixture.operator.defineKind(
        KindDefinition.local("work").withLease(Duration.ofSeconds(1)), "test");
    fixture.submit(1, i -> request("a"));
    DispatcherProcess frozen = fixture.startProcess("frozen", fixture.config(), Stubborn.class);
    await().atMost(LIMIT).until(() -> Files.exists(directory.resolve("begun")));
    frozen.freeze();
    Dispatcher other =
        fixture.start(fixture.config(), handler(task -> "the other".getBytes(UTF_8)));
    fixture.awaitState("DONE", 1);
    assertThat(other.stats().done()).isEqualTo(1);

    Files.createFile(directory.resolve("go"));
    frozen.thaw();
    await()
        .atMost(LIMIT)
        .until(
            () ->
                fixture.db.number(
                        "select count(*) from escapement.attempt where number = 1"
                            + " and late_outcome is not null")
                    == 1);
    assertThat(
            fixture.db.column(
                "select concat_ws(' ', number, outcome, late_outcome) from escapement.attempt"
                    + " order by number"))
        .containsExactly("1 LEASE_EXPIRED COMPLETED", "2 COMPLETED");
    assertThat(fixture.db.number("select count(*) from escapement.effect")).isEqualTo(1);
    assertThat(fixture.db.number(THE_OTHERS)).isEqualTo(1);
    assertThat(
            fixture.numberAfter(
                "insert into escapement.effect (task_id, attempt, bytes)"
                    + " select id, 1, 'the late one' from escapement.task"
                    + " on conflict (task_id) do update"
                    + " set attempt = excluded.attempt, bytes = excluded.bytes",
                THE_OTHERS))
        .as("the control: a completion that asks for the task only overwrites it")
        .isZero();
  }
}
