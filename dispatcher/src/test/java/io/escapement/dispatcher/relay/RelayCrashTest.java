package io.escapement.dispatcher.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Relays as processes that are killed, or frozen, in the middle of load. */
class RelayCrashTest {

  private static final Logger LOG = LoggerFactory.getLogger(RelayCrashTest.class);
  private static final int KILLS = 3;
  private static final int EVENTS_BETWEEN_KILLS = 1_500;

  private RelayHarness harness;
  private final List<RelayProcess> relays = new ArrayList<>();
  private final AtomicBoolean writing = new AtomicBoolean(true);
  private final ExecutorService load = Executors.newFixedThreadPool(2);

  @BeforeEach
  void open() {
    harness = RelayHarness.create();
  }

  @AfterEach
  void close() {
    writing.set(false);
    load.shutdownNow();
    relays.forEach(RelayProcess::close);
    harness.close();
  }

  @Test
  void killedRelaysLoseAndRepeatNothing() throws Exception {
    start("crash-0");
    start("crash-1");
    OutboxWriter first = harness.writer("first");
    OutboxWriter second = harness.writer("second");
    List<Future<?>> loads =
        List.of(load.submit(() -> write(first)), load.submit(() -> write(second)));
    EventReader reader = harness.reader();
    for (int kill = 0; kill < KILLS; kill++) {
      awaitMore(reader, first, second);
      RelayProcess leader = awaitLeader();
      leader.kill();
      relays.remove(leader);
      start("crash-" + (kill + 2));
    }
    awaitMore(reader, first, second);
    writing.set(false);
    for (Future<?> one : loads) {
      one.get();
    }
    reader.awaitAll(first.committed());
    reader.awaitAll(second.committed());
    reader.readToEnd();
    assertThat(reader.faults(first, second)).isEmpty();
    assertThat(reader.events()).noneMatch(EventReader.Event::repeated);
  }

  /** Five seconds are promised on a machine that does nothing else; tests' machines do. */
  @Test
  void aStandbyTakesOverWithinSecondsOfAKill() {
    start("taken-0");
    OutboxWriter writer = harness.writer("w");
    EventReader reader = harness.reader();
    writer.write(1);
    reader.awaitAll(writer.committed());
    RelayProcess leader = awaitLeader();
    start("taken-1");
    Awaitility.await()
        .atMost(RelayHarness.PATIENCE)
        .until(
            () ->
                harness
                        .ledger()
                        .number(
                            "select count(*) from pg_stat_activity"
                                + " where application_name = 'taken-1' and state = 'idle'")
                    > 0);
    writer.write(1);
    reader.awaitAll(writer.committed());
    long killed = System.nanoTime();
    leader.kill();
    writer.write(1);
    reader.awaitAll(writer.committed());
    Duration took = Duration.ofNanos(System.nanoTime() - killed);
    LOG.info("from kill -9 to the next event read: {} ms", took.toMillis());
    assertThat(took).isLessThan(Duration.ofSeconds(15));
    assertThat(leader()).contains("taken-1");
  }

  @Test
  void aFrozenLeaderIsReplacedAndDoesNoHarmWhenItWakesUp() throws Exception {
    start("frozen-0");
    OutboxWriter writer = harness.writer("w");
    Future<?> loading = load.submit(() -> write(writer));
    EventReader reader = harness.reader();
    awaitMore(reader, writer);
    RelayProcess frozen = awaitLeader();
    start("frozen-1");
    frozen.freeze();
    Awaitility.await()
        .atMost(RelayHarness.PATIENCE)
        .until(() -> leader().filter(name -> name.equals("frozen-1")).isPresent());
    awaitMore(reader, writer);
    frozen.thaw();
    awaitMore(reader, writer);
    writing.set(false);
    loading.get();
    reader.awaitAll(writer.committed());
    reader.readToEnd();
    assertThat(reader.faults(writer)).isEmpty();
    // It stands by again: kill the other, and it leads.
    assertThat(frozen.isAlive()).isTrue();
    awaitLeader().kill();
    writer.write(5);
    reader.awaitAll(writer.committed());
    assertThat(awaitLeader()).isSameAs(frozen);
  }

  /** Waits until the relay has caught up with what is written now, and gone on for a while. */
  private static void awaitMore(EventReader reader, OutboxWriter... writers) {
    int written = Arrays.stream(writers).mapToInt(writer -> writer.committed().size()).sum();
    reader.awaitCount(written + EVENTS_BETWEEN_KILLS);
  }

  private void start(String name) {
    relays.add(RelayProcess.start(name, harness.config()));
  }

  private RelayProcess awaitLeader() {
    Awaitility.await().atMost(RelayHarness.PATIENCE).until(() -> leader().isPresent());
    String name = leader().orElseThrow();
    return relays.stream().filter(relay -> relay.name().equals(name)).findFirst().orElseThrow();
  }

  /** Whoever holds the advisory lock. */
  private Optional<String> leader() {
    return harness
        .ledger()
        .column(
            "select application_name from pg_stat_activity join pg_locks using (pid)"
                + " where locktype = 'advisory' and granted and datname = current_database()")
        .stream()
        .findFirst();
  }

  /** A few hundred small transactions a second, some of them rolled back. */
  private void write(OutboxWriter writer) {
    int round = 0;
    while (writing.get()) {
      writer.insert(1 + round % 9);
      if (round % 13 == 0) {
        writer.rollback();
      } else {
        writer.commit();
      }
      round++;
      LockSupport.parkNanos(2_000_000);
    }
  }
}
