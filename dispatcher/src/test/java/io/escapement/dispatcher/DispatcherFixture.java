package io.escapement.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.escapement.dispatcher.relay.TestBroker;
import io.escapement.ledger.Decision;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.Requests;
import io.escapement.ledger.Role;
import io.escapement.ledger.Submission;
import io.escapement.ledger.TestLedger;
import io.escapement.ledger.TopicNames;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A ledger and a dispatch topic for one test, with dispatchers in this JVM and in others; all end
 * with it. No relay runs, so there are no hints: what is new is found by the sweep.
 */
final class DispatcherFixture implements AutoCloseable {

  static final Duration LIMIT = Duration.ofSeconds(60);
  static final int SLOTS = 256;

  private static final AtomicInteger NEXT = new AtomicInteger();
  private static final int MOST_AT_ONCE = 1_000;

  final TestLedger db = TestLedger.create();
  final Ledger ingest = db.connect(Role.INGEST);
  final Ledger operator = db.connect(Role.OPERATOR);

  private final TopicNames topics = new TopicNames("dispatch_test_" + NEXT.incrementAndGet());
  private final Path directory;
  private final List<Dispatcher> running = new ArrayList<>();
  private final List<DispatcherProcess> processes = new ArrayList<>();

  /**
   * Opens one.
   *
   * @param directory where processes leave their signs
   * @param partitions of the dispatch topic
   */
  DispatcherFixture(Path directory, int partitions) throws Exception {
    this.directory = directory;
    try (Admin admin = admin()) {
      admin
          .createTopics(List.of(new NewTopic(topics.dispatch("default"), partitions, (short) 1)))
          .all()
          .get();
    }
  }

  /** Makes another queue's dispatch topic; answers with a configuration that serves both. */
  DispatcherConfig alsoServing(DispatcherConfig c, String queue) throws Exception {
    try (Admin admin = admin()) {
      admin.createTopics(List.of(new NewTopic(topics.dispatch(queue), 2, (short) 1))).all().get();
    }
    return with(c, Map.of("queues", List.of("default", queue)));
  }

  /** Changes the dispatch topic. */
  void addPartitions(int total) throws ExecutionException, InterruptedException {
    try (Admin admin = admin()) {
      admin
          .createPartitions(Map.of(topics.dispatch("default"), NewPartitions.increaseTo(total)))
          .all()
          .get();
    }
  }

  /** Short sweeps, and dead members of the group are missed soon. */
  DispatcherConfig config() {
    return new DispatcherConfig(
        db.config().withPoolSize(12),
        Map.of(
            "bootstrap.servers",
            TestBroker.bootstrapServers(),
            "session.timeout.ms",
            "2000",
            "heartbeat.interval.ms",
            "400"),
        topics,
        List.of("default"),
        64,
        8,
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

  /** A copy of a configuration in which some components, by their names, are others. */
  static DispatcherConfig with(DispatcherConfig config, Map<String, ?> changes) {
    RecordComponent[] components = DispatcherConfig.class.getRecordComponents();
    Class<?>[] types = Stream.of(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
    Map<String, Object> values = new LinkedHashMap<>();
    try {
      for (RecordComponent component : components) {
        values.put(component.getName(), component.getAccessor().invoke(config));
      }
      assertThat(values).containsKeys(changes.keySet().toArray(String[]::new));
      values.putAll(changes);
      return DispatcherConfig.class
          .getDeclaredConstructor(types)
          .newInstance(values.values().toArray());
    } catch (ReflectiveOperationException e) {
      throw new IllegalArgumentException("no configuration: " + changes, e);
    }
  }

  static DispatcherConfig timed(DispatcherConfig c, Duration horizon, Duration sweep) {
    return with(c, Map.of("horizon", horizon, "sweep", sweep));
  }

  static DispatcherConfig sized(DispatcherConfig c, int knownLimit, int concurrency, int threads) {
    return with(
        c,
        Map.of(
            "ledger",
            c.ledger().withPoolSize(threads + 4),
            "knownLimit",
            knownLimit,
            "concurrency",
            concurrency,
            "threads",
            threads));
  }

  static DispatcherConfig draining(DispatcherConfig c, Duration limit) {
    return with(c, Map.of("drainLimit", limit));
  }

  static DispatcherConfig withKafka(DispatcherConfig c, String key, String value) {
    Map<String, String> kafka = new HashMap<>(c.kafka());
    kafka.put(key, value);
    return with(c, Map.of("kafka", kafka));
  }

  /** A dispatcher in this JVM. */
  Dispatcher start(DispatcherConfig config, TaskHandler... handlers) {
    return start(config, Channels.none(), handlers);
  }

  /** A dispatcher in this JVM that calls channels too. */
  Dispatcher start(DispatcherConfig config, Channels channels, TaskHandler... handlers) {
    Dispatcher dispatcher = Dispatcher.start(config, Handlers.of(List.of(handlers)), channels);
    running.add(dispatcher);
    return dispatcher;
  }

  /** A dispatcher in a JVM of its own. */
  DispatcherProcess startProcess(
      String name, DispatcherConfig config, Class<? extends TaskHandler> handler) {
    DispatcherProcess process = DispatcherProcess.start(name, config, directory, handler);
    processes.add(process);
    return process;
  }

  /** kill -9, and the end of what the server still does for it. */
  void kill(DispatcherProcess process) {
    String sessions =
        "select count(*) from pg_stat_activity where datname = current_database()"
            + " and application_name = '"
            + process.name()
            + "'";
    assertThat(db.number(sessions)).isPositive();
    process.kill();
    await().atMost(LIMIT).until(() -> db.number(sessions) == 0);
  }

  /** Admits requests. */
  void submit(int count, IntFunction<Requests> request) {
    for (int from = 0; from < count; from += MOST_AT_ONCE) {
      Submission.Request[] some = new Submission.Request[Math.min(MOST_AT_ONCE, count - from)];
      for (int i = 0; i < some.length; i++) {
        some[i] = request.apply(from + i).build();
      }
      assertThat(db.submit(ingest, some)).containsOnly(Decision.ACCEPTED);
    }
  }

  /** Tells dispatchers of a tenant's waiting tasks, as the relay does. */
  void hint(String tenant, int partitions) {
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", TestBroker.bootstrapServers()),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      for (String hint :
          db.column(
              "select slot || ' ' || json_build_object('task', id, 'slot', slot, 'tenant', tenant,"
                  + " 'dueAt', to_char(due_at at time zone 'utc', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'))"
                  + " from escapement.task where state = 'SCHEDULED' and tenant = '"
                  + tenant
                  + "'")) {
        String[] parts = hint.split(" ", 2);
        var unused =
            producer.send(
                new ProducerRecord<>(
                    topics.dispatch("default"),
                    Integer.parseInt(parts[0]) % partitions,
                    null,
                    parts[1].getBytes(StandardCharsets.UTF_8)));
      }
    }
  }

  void awaitState(String state, long count) {
    await()
        .atMost(LIMIT)
        .until(
            () ->
                db.number("select count(*) from escapement.task where state = '" + state + "'")
                    == count);
  }

  /** What a query answers with after a change that is then undone: for negative controls. */
  long numberAfter(String change, String query) throws SQLException {
    try (Connection connection = db.connection();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.execute(change);
      try (ResultSet rows = statement.executeQuery(query)) {
        rows.next();
        return rows.getLong(1);
      } finally {
        connection.rollback();
      }
    }
  }

  /** The work of a test's handler. */
  @FunctionalInterface
  interface Work {
    byte[] effect(Task task) throws Exception;
  }

  /** A handler of the kind {@code work}. */
  static TaskHandler handler(Work work) {
    return new EffectHandler() {
      @Override
      public String kind() {
        return "work";
      }

      @Override
      public HandlerResult handle(Task task) throws Exception {
        return HandlerResult.done(work.effect(task));
      }
    };
  }

  private static Admin admin() {
    return Admin.create(Map.<String, Object>of("bootstrap.servers", TestBroker.bootstrapServers()));
  }

  @Override
  public void close() {
    processes.forEach(DispatcherProcess::close);
    running.forEach(Dispatcher::close);
    assertThat(operator.audit()).isEmpty();
    db.close();
  }
}
