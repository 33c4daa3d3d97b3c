package io.escapement.dispatcher;

import static io.escapement.ledger.Requests.request;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.escapement.embedded.EmbeddedBroker;
import io.escapement.ledger.CancelAnswer;
import io.escapement.ledger.ChannelDefinition;
import io.escapement.ledger.Decision;
import io.escapement.ledger.KindDefinition;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.PauseScope;
import io.escapement.ledger.Role;
import io.escapement.ledger.Submission;
import io.escapement.ledger.TestLedger;
import io.escapement.ledger.TopicNames;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** No relay runs here, so there are no hints: what is new is found by the sweep. */
class DispatcherKafkaTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final AtomicInteger PREFIX = new AtomicInteger();

  @TempDir static Path directory;
  private static EmbeddedBroker broker;
  private static Admin admin;

  private final List<Dispatcher> running = new ArrayList<>();
  private TopicNames topics;
  private TestLedger db;
  private Ledger ingest;
  private Ledger operator;

  @BeforeAll
  static void startBroker() {
    broker = EmbeddedBroker.start(directory, 0);
    admin = Admin.create(Map.<String, Object>copyOf(kafkaProperties()));
  }

  @AfterAll
  static void stopBroker() {
    admin.close();
    broker.close();
  }

  @BeforeEach
  void open() throws Exception {
    topics = new TopicNames("t" + PREFIX.incrementAndGet());
    admin.createTopics(List.of(new NewTopic(topics.dispatch("default"), 4, (short) 1))).all().get();
    db = TestLedger.create();
    ingest = db.connect(Role.INGEST);
    operator = db.connect(Role.OPERATOR);
  }

  @AfterEach
  void close() {
    running.forEach(Dispatcher::close);
    assertThat(operator.audit()).isEmpty();
    db.close();
  }

  @Test
  void dueTasksAreDoneOnceEachWithTheirEffect() {
    Submission.Request[] many = new Submission.Request[500];
    for (int i = 0; i < many.length; i++) {
      many[i] = request("n" + i).tenant("tenant" + i % 5).value("v" + i).build();
    }
    assertThat(db.submit(ingest, many)).containsOnly(Decision.ACCEPTED);
    start(effect("work", Task::data));
    awaitStates("DONE", 500);
    assertThat(
            db.number(
                "select count(*) from escapement.effect e join escapement.intent i"
                    + " on i.id = e.task_id where e.bytes = i.value"))
        .isEqualTo(500);
  }

  @Test
  void aDelayedTaskIsNotRunBeforeItsTimeAndNotForgotten() {
    db.submit(ingest, request("later").dueAt(Instant.now().plus(Duration.ofMillis(1500))).build());
    start(effect("work", task -> new byte[0]));
    awaitStates("DONE", 1);
    assertThat(
            db.number(
                "select count(*) from escapement.attempt where claimed_at >= due_at and number = 1"))
        .isEqualTo(1);
    assertThat(db.number("select count(*) from escapement.attempt")).isEqualTo(1);
  }

  /** A handler writes in the ledger's database: calls to the outside are not its work. */
  @Test
  void aTaskOfAnExternalChannelIsLeftAloneThoughItsKindHasAHandler() {
    operator.defineChannel(ChannelDefinition.opaque("mail", Duration.ofSeconds(5)), "test");
    operator.defineKind(KindDefinition.local("letter").withChannel("mail"), "test");
    db.submit(ingest, request("call").kind("letter").build());
    start(effect("letter", task -> new byte[0]), effect("work", task -> new byte[0]));
    db.submit(ingest, request("local").build());
    awaitStates("DONE", 1);
    assertThat(
            db.column("select state || ' ' || attempt from escapement.task where kind = 'letter'"))
        .containsExactly("SCHEDULED 0");
  }

  @Test
  void whatIsPausedWaitsAndRunsOnceItIsResumed() {
    operator.pause(PauseScope.TENANT, "acme", "test");
    db.submit(ingest, request("paused").build(), request("other").tenant("rival").build());
    start(effect("work", task -> new byte[0]));
    awaitStates("DONE", 1);
    assertThat(db.column("select tenant from escapement.task where state = 'SCHEDULED'"))
        .containsExactly("acme");
    operator.resume(PauseScope.TENANT, "acme", "test");
    awaitStates("DONE", 2);
  }

  @Test
  void whatFailsIsTriedAgainAndThenDone() {
    quickBackoff();
    AtomicInteger tries = new AtomicInteger();
    start(
        effect(
            "work",
            task -> {
              if (tries.incrementAndGet() < 3) {
                throw new IllegalStateException("not yet");
              }
              return new byte[0];
            }));
    db.submit(ingest, request("a").build());
    awaitStates("DONE", 1);
    assertThat(db.column("select outcome from escapement.attempt order by number"))
        .containsExactly("FAILED", "FAILED", "COMPLETED");
  }

  @Test
  void anErrorInAHandlerIsItsOwnTasksFailureOnly() {
    quickBackoff();
    start(
        effect(
            "work",
            task -> {
              if (task.eventId().equals("bad")) {
                throw new StackOverflowError("deep");
              }
              return new byte[0];
            }));
    db.submit(ingest, request("bad").maxAttempts(2).build(), request("good").build());
    awaitStates("DONE", 1);
    awaitStates("FAILED", 1);
  }

  @Test
  void aTransactionalHandlersRowsCommitWithItsTask() {
    db.execute(
        "create table public.booking (id text primary key);"
            + "grant insert on public.booking to escapement_dispatcher");
    quickBackoff();
    start(
        new TransactionalHandler() {
          @Override
          public String kind() {
            return "work";
          }

          @Override
          public HandlerResult handle(Task task, Connection connection) throws Exception {
            try (PreparedStatement insert =
                connection.prepareStatement("insert into public.booking values (?)")) {
              insert.setString(1, task.eventId() + "/" + task.attempt());
              insert.executeUpdate();
            }
            return task.attempt() == 1
                ? HandlerResult.failed("first try")
                : HandlerResult.done(new byte[0]);
          }
        });
    db.submit(ingest, request("a").build());
    awaitStates("DONE", 1);
    assertThat(db.column("select id from public.booking")).containsExactly("a/2");
  }

  @Test
  void aTransactionThatOutlivesItsLeaseLeavesNothingAndIsRunAgainHere() {
    db.execute(
        "create table public.booking (id text primary key);"
            + "grant insert on public.booking to escapement_dispatcher");
    operator.defineKind(
        new KindDefinition(
            "work",
            "default",
            "local",
            5,
            Duration.ofMillis(400),
            Duration.ofMillis(400),
            Duration.ZERO,
            Duration.ZERO,
            0,
            KindDefinition.Exhaustion.FAILED),
        "test");
    start(
        new TransactionalHandler() {
          @Override
          public String kind() {
            return "work";
          }

          @Override
          public HandlerResult handle(Task task, Connection connection) throws Exception {
            try (PreparedStatement insert =
                connection.prepareStatement("insert into public.booking values (?)")) {
              insert.setString(1, task.eventId() + "/" + task.attempt());
              insert.executeUpdate();
            }
            if (task.attempt() == 1) {
              await()
                  .until(
                      () ->
                          db.number(
                                  "select count(*) from escapement.task"
                                      + " where lease_until <= clock_timestamp()")
                              == 1);
            }
            return HandlerResult.done(new byte[0]);
          }
        });
    db.submit(ingest, request("a").build());
    awaitStates("DONE", 1);
    assertThat(db.column("select id from public.booking"))
        .singleElement()
        .asString()
        .isNotEqualTo("a/1");
  }

  @Test
  void aKindWithoutHandlerIsNeitherClaimedNorFailedUntilSomebodyHasOne() {
    operator.defineKind(KindDefinition.local("unknown"), "test");
    db.submit(ingest, request("a").kind("unknown").build(), request("b").build());
    start(effect("work", task -> new byte[0]));
    awaitStates("DONE", 1);
    assertThat(db.column("select attempt from escapement.task where kind = 'unknown'"))
        .containsExactly("0");
    start(effect("unknown", task -> new byte[0]), effect("work", task -> new byte[0]));
    awaitStates("DONE", 2);
  }

  @Test
  void aCancelledTaskIsInterruptedAndLeavesNoEffect() throws Exception {
    operator.defineKind(KindDefinition.local("work").withLease(Duration.ofMillis(600)), "test");
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    start(
        effect(
            "work",
            task -> {
              begun.countDown();
              try {
                new CountDownLatch(1).await();
              } catch (InterruptedException e) {
                interrupted.countDown();
              }
              return new byte[0];
            }));
    db.submit(ingest, request("a").build());
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(operator.cancel("/test", "a", false, "test"))
        .extracting(CancelAnswer::result)
        .containsExactly(CancelAnswer.Result.REQUESTED);
    assertThat(interrupted.await(30, TimeUnit.SECONDS)).isTrue();
    awaitStates("CANCELLED", 1);
    assertThat(db.number("select count(*) from escapement.effect")).isZero();
  }

  @Test
  void aLongHandlerKeepsItsLease() throws Exception {
    operator.defineKind(KindDefinition.local("work").withLease(Duration.ofMillis(300)), "test");
    CountDownLatch release = new CountDownLatch(1);
    start(
        effect(
            "work",
            task -> {
              release.await();
              return new byte[0];
            }));
    db.submit(ingest, request("a").build());
    // Claimed so long ago that its first lease is over four times: only renewal has kept it.
    await()
        .atMost(LIMIT)
        .until(
            () ->
                db.number(
                        "select count(*) from escapement.in_flight"
                            + " where claimed_at < clock_timestamp() - interval '1200 ms'"
                            + " and lease_until > clock_timestamp()")
                    == 1);
    release.countDown();
    awaitStates("DONE", 1);
    assertThat(db.number("select count(*) from escapement.attempt")).isEqualTo(1);
  }

  @Test
  void aStopDrainsWhatRunsAndHandsBackWhatHasNotBegun() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    Dispatcher dispatcher =
        start(
            effect(
                "work",
                task -> {
                  if (task.eventId().startsWith("slow")) {
                    release.await();
                  }
                  return new byte[0];
                }));
    // Handlers have shown that they are quick, so tasks are claimed that wait for a thread.
    submitMany("quick", 300);
    awaitStates("DONE", 300);
    submitMany("slow", 40);
    await().atMost(LIMIT).until(() -> dispatcher.stats().claimed() > 300 + 16);

    Thread stop = new Thread(dispatcher::close);
    stop.start();
    await()
        .atMost(LIMIT)
        .until(
            () ->
                db.number(
                        "select count(*) from escapement.task where state = 'SCHEDULED'"
                            + " and tries_left = 5")
                    == 24);
    assertThat(db.number("select count(*) from escapement.attempt where outcome = 'RELEASED'"))
        .isPositive();
    release.countDown();
    stop.join();
    assertThat(db.number("select count(*) from escapement.task where state = 'DONE'"))
        .isEqualTo(300 + 16);
    running.remove(dispatcher);
    start(effect("work", task -> new byte[0]));
    awaitStates("DONE", 340);
  }

  @Test
  void twoDispatchersShareTheSlotsAndAllIsDoneOnce() {
    TaskHandler handler = effect("work", task -> new byte[0]);
    Dispatcher one = start(handler);
    Dispatcher two = start(handler);
    await().atMost(LIMIT).until(() -> one.stats().slots() == 128 && two.stats().slots() == 128);
    submitMany("n", 400);
    awaitStates("DONE", 400);
    assertThat(db.number("select count(*) from escapement.attempt")).isEqualTo(400);
    assertThat(one.stats().done()).isPositive();
    assertThat(two.stats().done()).isPositive();
  }

  @Test
  void moreThanFitsIntoMemoryIsFetchedAsRoomAppears() {
    Submission.Request[] many = new Submission.Request[2_000];
    for (int i = 0; i < many.length; i++) {
      many[i] = request("n" + i).tenant("tenant" + i % 3).build();
    }
    db.submit(ingest, many);
    start(config -> withKnownLimit(config, 300), effect("work", task -> new byte[0]));
    awaitStates("DONE", 2_000);
  }

  @Test
  void aMissingTopicOrBrokerIsOneLine() {
    DispatcherConfig config = config();
    DispatcherConfig elsewhere =
        DispatcherConfig.of(db.config(), kafkaProperties(), new TopicNames("nowhere"));
    assertThatThrownBy(() -> Dispatcher.start(elsewhere, Handlers.of(List.of())))
        .isInstanceOf(DispatcherException.class)
        .hasMessageContaining("nowhere.dispatch.default")
        .hasMessageContaining("migrate");
    DispatcherConfig nobody =
        DispatcherConfig.of(
            db.config(), Map.of("bootstrap.servers", "127.0.0.1:1"), config.topics());
    assertThatThrownBy(() -> Dispatcher.start(nobody, Handlers.of(List.of())))
        .isInstanceOf(DispatcherException.class)
        .hasMessageContaining("kafka.bootstrap-servers")
        .hasMessageContaining("127.0.0.1:1");
  }

  /** Hints may have been lost with the relay's slot; nothing else brings the task in here. */
  @Test
  void aWordFromTheRelayMakesTheLedgerBeAskedAnew() {
    start(c -> withSweep(c, Duration.ofMinutes(30)), effect("work", task -> new byte[0]));
    db.submit(ingest, request("before").build());
    await().atMost(LIMIT).until(() -> running.get(0).stats().slots() == 256);
    awaitStates(
        "DONE",
        1,
        () ->
            send(
                new ProducerRecord<>(
                    topics.dispatch("default"), 0, null, null, new byte[0], RELOAD)));
    db.submit(ingest, request("after").build());
    awaitStates(
        "DONE",
        2,
        () ->
            send(
                new ProducerRecord<>(
                    topics.dispatch("default"), 0, null, null, new byte[0], RELOAD)));
  }

  /** The same harness without the word: half an hour is longer than the test waits. */
  @Test
  void withoutThatWordATaskWithoutAHintIsNotFoundUntilTheSweep() {
    start(c -> withSweep(c, Duration.ofMinutes(30)), effect("work", task -> new byte[0]));
    await().atMost(LIMIT).until(() -> running.get(0).stats().slots() == 256);
    db.submit(ingest, request("first").build());
    awaitStates(
        "DONE",
        1,
        () ->
            send(
                new ProducerRecord<>(
                    topics.dispatch("default"), 0, null, null, new byte[0], RELOAD)));
    db.submit(ingest, request("unknown").build());
    await()
        .during(Duration.ofSeconds(2))
        .atMost(LIMIT)
        .until(
            () -> db.number("select count(*) from escapement.task where state = 'SCHEDULED'") == 1);
  }

  private static final List<Header> RELOAD =
      List.of(new RecordHeader("ce_type", "io.escapement.dispatch.reload".getBytes(UTF_8)));

  private static void send(ProducerRecord<byte[], byte[]> record) {
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.copyOf(kafkaProperties()), new ByteArraySerializer(), new ByteArraySerializer())) {
      var unused = producer.send(record);
    }
  }

  private static DispatcherConfig withSweep(DispatcherConfig c, Duration sweep) {
    return DispatcherFixture.timed(c, sweep.multipliedBy(2), sweep);
  }

  private void submitMany(String prefix, int count) {
    Submission.Request[] many = new Submission.Request[count];
    for (int i = 0; i < many.length; i++) {
      many[i] = request(prefix + i).build();
    }
    db.submit(ingest, many);
  }

  private void awaitStates(String state, long count, Runnable meanwhile) {
    await()
        .atMost(LIMIT)
        .until(
            () -> {
              meanwhile.run();
              return db.number("select count(*) from escapement.task where state = '" + state + "'")
                  == count;
            });
  }

  /** The work of a test's handler. */
  @FunctionalInterface
  private interface Work {
    byte[] effect(Task task) throws Exception;
  }

  private static TaskHandler effect(String kind, Work work) {
    return new EffectHandler() {
      @Override
      public String kind() {
        return kind;
      }

      @Override
      public HandlerResult handle(Task task) throws Exception {
        return HandlerResult.done(work.effect(task));
      }
    };
  }

  private Dispatcher start(TaskHandler... handlers) {
    return start(config -> config, handlers);
  }

  private Dispatcher start(
      java.util.function.UnaryOperator<DispatcherConfig> change, TaskHandler... handlers) {
    Dispatcher dispatcher =
        Dispatcher.start(change.apply(config()), Handlers.of(List.of(handlers)));
    running.add(dispatcher);
    return dispatcher;
  }

  private DispatcherConfig config() {
    return new DispatcherConfig(
        db.config().withPoolSize(20),
        kafkaProperties(),
        topics,
        List.of("default"),
        64,
        16,
        50_000,
        Duration.ofSeconds(10),
        Duration.ofMillis(200),
        100,
        100,
        Duration.ofSeconds(30),
        new Discovery.Wheel(),
        LaneLimits.NONE,
        Outages.DEFAULT);
  }

  private static DispatcherConfig withKnownLimit(DispatcherConfig c, int limit) {
    return DispatcherFixture.with(c, Map.of("knownLimit", limit));
  }

  private static Map<String, String> kafkaProperties() {
    return Map.of("bootstrap.servers", broker.bootstrapServers());
  }

  private void quickBackoff() {
    operator.defineKind(
        KindDefinition.local("work").withBackoff(Duration.ofMillis(20), Duration.ofMillis(50), 0),
        "test");
  }

  private void awaitStates(String state, long count) {
    await()
        .atMost(LIMIT)
        .until(
            () ->
                db.number("select count(*) from escapement.task where state = '" + state + "'")
                    == count);
  }
}
