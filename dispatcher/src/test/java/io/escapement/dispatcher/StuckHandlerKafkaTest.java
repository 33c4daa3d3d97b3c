package io.escapement.dispatcher;

import static io.escapement.dispatcher.DispatcherFixture.LIMIT;
import static io.escapement.ledger.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.escapement.ledger.ChannelDefinition;
import io.escapement.ledger.KindDefinition;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Handlers that misbehave harm themselves and are seen. */
class StuckHandlerKafkaTest {

  private static final Logger LOG = LoggerFactory.getLogger(StuckHandlerKafkaTest.class);
  private static final int THREADS = 2;

  @TempDir static Path directory;

  private final CountDownLatch release = new CountDownLatch(1);
  private final AtomicInteger stuck = new AtomicInteger();
  private DispatcherFixture fixture;

  @BeforeEach
  void open() throws Exception {
    fixture = new DispatcherFixture(directory, 2);
    fixture.operator.defineKind(
        KindDefinition.local("stuck")
            .withLease(Duration.ofMillis(500))
            .withTimeout(Duration.ofSeconds(2))
            .withMaxAttempts(1),
        "test");
  }

  @AfterEach
  void close() {
    release.countDown();
    fixture.close();
  }

  @Test
  void handlersThatNeverReturnAndIgnoreInterruptsKeepNoOtherTaskWaiting() throws Exception {
    fixture.submit(THREADS, i -> request("stuck" + i).kind("stuck"));
    Dispatcher dispatcher = start(effect("stuck", this::ignoreEverything));
    await().atMost(LIMIT).until(() -> stuck.get() == THREADS);
    fixture.submit(50, i -> request("work" + i));
    fixture.awaitState("DONE", 50);
    assertThat(dispatcher.stats().stuckHandlers()).isEqualTo(THREADS);
    assertThat(dispatcher.stats().leasesLost()).isEqualTo(THREADS);
    assertThat(jmx("StuckHandlers")).isEqualTo(THREADS);
    fixture.awaitState("FAILED", THREADS);
    assertThat(
            fixture.db.number(
                "select count(*) from escapement.attempt a join escapement.task t on t.id = a.task_id"
                    + " join escapement.kind k on k.name = t.kind"
                    + " where t.kind = 'stuck' and a.finished_at < a.claimed_at + k.timeout"))
        .as("renewed up to the kind's time-out")
        .isZero();
    release.countDown();
    await().atMost(LIMIT).until(() -> dispatcher.stats().stuckHandlers() == 0);
    await().atMost(LIMIT).until(() -> dispatcher.stats().late() == THREADS);
    assertThat(fixture.db.number("select count(*) from escapement.effect")).isEqualTo(50);
  }

  @Test
  void aTransactionThatNeverEndsKeepsNoOtherTaskWaiting() {
    fixture.submit(THREADS, i -> request("stuck" + i).kind("stuck"));
    Dispatcher dispatcher =
        start(
            new TransactionalHandler() {
              @Override
              public String kind() {
                return "stuck";
              }

              @Override
              public HandlerResult handle(Task task, Connection connection) {
                ignoreEverything();
                return HandlerResult.done(new byte[0]);
              }
            });
    await().atMost(LIMIT).until(() -> stuck.get() == THREADS);
    fixture.submit(50, i -> request("work" + i));
    fixture.awaitState("DONE", 50);
    assertThat(dispatcher.stats().stuckHandlers()).isEqualTo(THREADS);
    release.countDown();
    await().atMost(LIMIT).until(() -> dispatcher.stats().stuckHandlers() == 0);
  }

  @Test
  void whatHasNoHandlerIsNamedAndNeitherClaimedNorFailed() throws Exception {
    fixture.operator.defineChannel(ChannelDefinition.opaque("mail", Duration.ofSeconds(5)), "test");
    fixture.operator.defineKind(KindDefinition.local("letter").withChannel("mail"), "test");
    fixture.submit(1, i -> request("call").kind("letter"));
    fixture.submit(1, i -> request("other").kind("stuck"));
    Dispatcher dispatcher = start();
    await().atMost(LIMIT).until(() -> dispatcher.stats().noHandler().size() == 2);
    assertThat(dispatcher.stats().noHandler())
        .containsExactlyInAnyOrder(
            "queue default, kind letter, channel mail", "queue default, kind stuck, channel local");
    assertThat((String[]) jmx("NoHandler")).hasSize(2);
    assertThat(fixture.db.column("select distinct state::text || attempt from escapement.task"))
        .containsExactly("SCHEDULED0");
  }

  @Test
  void aHandlerThatThrowsAnErrorOrFloodsMemoryFailsItsOwnAttempt() {
    fixture.operator.defineKind(KindDefinition.local("flood").withMaxAttempts(1), "test");
    fixture.submit(1, i -> request("flood").kind("flood"));
    start(
        effect(
            "flood",
            () -> {
              throw new OutOfMemoryError("too much was asked for");
            }));
    fixture.awaitState("FAILED", 1);
    fixture.submit(10, i -> request("work" + i));
    fixture.awaitState("DONE", 10);
  }

  private Dispatcher start(TaskHandler... others) {
    TaskHandler[] handlers = new TaskHandler[others.length + 1];
    System.arraycopy(others, 0, handlers, 0, others.length);
    handlers[others.length] = DispatcherFixture.handler(Task::value);
    return fixture.start(
        DispatcherFixture.sized(fixture.config(), 1_000, THREADS, THREADS), handlers);
  }

  private void ignoreEverything() {
    stuck.incrementAndGet();
    while (release.getCount() > 0) {
      try {
        release.await();
      } catch (InterruptedException ignored) {
        LOG.debug("ignored, as the worst of handlers do");
      }
    }
  }

  private static TaskHandler effect(String kind, Runnable work) {
    return new EffectHandler() {
      @Override
      public String kind() {
        return kind;
      }

      @Override
      public HandlerResult handle(Task task) {
        work.run();
        return HandlerResult.done(new byte[0]);
      }
    };
  }

  private Object jmx(String attribute) throws Exception {
    return ManagementFactory.getPlatformMBeanServer()
        .getAttribute(
            new ObjectName(
                "io.escapement:type=Dispatcher,name="
                    + ObjectName.quote(fixture.config().topics().prefix())),
            attribute);
  }
}
