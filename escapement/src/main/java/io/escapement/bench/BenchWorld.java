package io.escapement.bench;

import io.escapement.assembly.Assembly;
import io.escapement.assembly.CommandFailure;
import io.escapement.config.Config;
import io.escapement.config.Key;
import io.escapement.ledger.KindDefinition;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.LedgerConfig;
import io.escapement.ledger.Role;
import io.escapement.ledger.TopicNames;
import io.escapement.ledger.bench.BareLoop;
import io.escapement.ledger.bench.BenchDatabase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongConsumer;
import org.apache.kafka.clients.admin.Admin;

/**
 * A ledger and topics of one case's own, which are gone after it.
 *
 * <p>Cost: a second or two. Thread rule: one thread.
 */
final class BenchWorld implements AutoCloseable {

  /** A setting of this world. */
  record Assignment(Key key, String value) {}

  /** Its handler answers at once. */
  static final String KIND = BenchHandler.KIND;

  /** Its handler takes as many milliseconds as a task's value has bytes. */
  static final String SLOW_KIND = SlowBenchHandler.KIND;

  static final String SOURCE = "/bench";

  private static final String REASON = "a benchmark's";
  private static final long ROOM_TASKS = 1_000_000_000;
  private static final long ROOM_BYTES = 1L << 50;
  private static final long DELETE_LIMIT_SECONDS = 30;

  /** Consecutive ids, so that every slot has some. */
  private static final int WARM_UP_TASKS = 2_000;

  private static final Duration DRAIN_LIMIT = Duration.ofMinutes(10);

  private final Config config;
  private final BenchDatabase database;
  private final Path scratch;
  private final Patience patience;
  private final boolean ownsDatabase;

  private BenchWorld(
      Config config,
      BenchDatabase database,
      Path scratch,
      Patience patience,
      boolean ownsDatabase) {
    this.config = config;
    this.database = database;
    this.scratch = scratch;
    this.patience = patience;
    this.ownsDatabase = ownsDatabase;
  }

  static BenchWorld create(Config config, String name, Path scratch, Patience patience) {
    BenchDatabase database =
        BenchDatabase.create(
            LedgerConfig.of(
                config.text(Key.LEDGER_URL),
                config.text(Key.LEDGER_USER),
                config.text(Key.LEDGER_PASSWORD)),
            name);
    BenchWorld world =
        new BenchWorld(
            config.with(Key.LEDGER_URL, database.config().url()),
            database,
            scratch,
            patience,
            true);
    try {
      world.assembly().migrate();
      world.assembly().createTopics(List.of());
      return world;
    } catch (RuntimeException e) {
      database.close();
      throw e;
    }
  }

  /** The same ledger with other topics, so that positions and groups begin anew. */
  BenchWorld withNewTopics(long number) {
    String prefix = config.text(Key.TOPICS_PREFIX) + "_" + number;
    BenchWorld other =
        new BenchWorld(config.with(Key.TOPICS_PREFIX, prefix), database, scratch, patience, false);
    other.assembly().createTopics(List.of());
    return other;
  }

  Config config() {
    return config;
  }

  BenchDatabase database() {
    return database;
  }

  Assembly assembly() {
    return new Assembly(config);
  }

  TopicNames topics() {
    return assembly().topics();
  }

  int partitions() {
    return config.number(Key.TOPICS_PARTITIONS);
  }

  /** Defines the kinds, and budgets that nothing here fills; tenants of one weight. */
  void openTo(int tenants) {
    try (Ledger operator = assembly().ledger(Role.OPERATOR)) {
      operator.defineKind(KindDefinition.local(KIND), REASON);
      operator.defineKind(KindDefinition.local(SLOW_KIND), REASON);
      operator.setLimits(ROOM_TASKS, ROOM_BYTES, REASON);
      for (int t = 0; t < tenants; t++) {
        operator.setTenant(tenant(t), ROOM_TASKS, ROOM_BYTES, 1, REASON);
      }
    }
  }

  /** A tenant's name. */
  static String tenant(int number) {
    return "tenant-" + number;
  }

  /** What rows of this world look like. */
  BareLoop.Shape shape(int tenants, int valueBytes) {
    return shape(KIND, tenants, valueBytes);
  }

  /** Tasks of the first tenant whose handler takes so long. */
  BareLoop.Shape slowShape(int handlerMillis) {
    return shape(SLOW_KIND, 1, handlerMillis);
  }

  private BareLoop.Shape shape(String kind, int tenants, int valueBytes) {
    return new BareLoop.Shape(SOURCE, kind, tenants, valueBytes, topics().requests(), partitions());
  }

  /**
   * Waits until a dispatcher has ended all tasks but so many, and tells how many it has left each
   * time that it looks.
   */
  void awaitOutstanding(long atMost, ChildPart dispatcher, LongConsumer left) {
    patience.await(
        "all tasks but " + atMost + " to end",
        DRAIN_LIMIT,
        List.of(dispatcher),
        () -> {
          long now = database.outstanding();
          left.accept(now);
          return now <= atMost;
        });
  }

  /** Starts a dispatcher, and waits until it has ended some due tasks of every slot. */
  ChildPart startWarmDispatcher(BareLoop.Shape shape) {
    long others = database.outstanding();
    database.loadWaiting(shape, WARM_UP_TASKS, Duration.ZERO, Duration.ZERO);
    ChildPart dispatcher = start("dispatch");
    try {
      awaitOutstanding(others, dispatcher, left -> {});
      return dispatcher;
    } catch (RuntimeException e) {
      dispatcher.close();
      throw e;
    }
  }

  /** Starts a part as a process. */
  ChildPart start(String command) {
    return ChildPart.start(command, config, scratch, patience);
  }

  @Override
  public void close() {
    try {
      deleteTopics();
    } finally {
      if (ownsDatabase) {
        database.close();
      }
    }
  }

  private void deleteTopics() {
    Map<String, Object> properties = new HashMap<>(config.kafkaClient());
    try (Admin admin = Admin.create(properties)) {
      List<String> ours =
          admin.listTopics().names().get(DELETE_LIMIT_SECONDS, TimeUnit.SECONDS).stream()
              .filter(topic -> topic.startsWith(topics().prefix() + "."))
              .toList();
      admin.deleteTopics(ours).all().get(DELETE_LIMIT_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new CommandFailure("the benchmark's topics could not be deleted: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
