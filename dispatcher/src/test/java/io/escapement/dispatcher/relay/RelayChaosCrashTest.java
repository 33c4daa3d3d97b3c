package io.escapement.dispatcher.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.embedded.EmbeddedBroker;
import io.escapement.embedded.EmbeddedDatabase;
import io.escapement.ledger.LedgerConfig;
import io.escapement.ledger.Migrator;
import io.escapement.ledger.TopicNames;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Invariant I12 by force: several relay processes of one slot, something is killed every few
 * seconds while events are written, and in the end a reader of committed records has read each
 * event once and each key's in commit order.
 *
 * <p>{@code -Pchaos} makes it 200,000 events; without, it is a taste of it.
 */
class RelayChaosCrashTest {

  private static final Logger LOG = LoggerFactory.getLogger(RelayChaosCrashTest.class);
  private static final boolean LONG = Boolean.getBoolean("chaos");
  private static final int WRITERS = 4;
  private static final int EVENTS = LONG ? 200_000 : 8_000;
  private static final int FAULTS = LONG ? 15 : 3;
  private static final int RELAYS = 3;
  private static final int LEAST_PAUSE_MILLIS = 1_500;
  private static final int MORE_PAUSE_MILLIS = LONG ? 4_000 : 1_500;
  private static final Duration PATIENCE = Duration.ofMinutes(LONG ? 10 : 3);
  private static final TopicNames TOPICS = new TopicNames("chaos");
  private static final String SLOT = "chaos_slot";

  @TempDir Path directory;

  private final long seed = Long.getLong("chaos.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final List<RelayProcess> relays = new ArrayList<>();
  private final ExecutorService load = Executors.newFixedThreadPool(WRITERS);
  private EmbeddedDatabase database;
  private EmbeddedBroker broker;
  private ChaosReader reading;
  private RelayConfig config;
  private boolean careless;
  private int started;

  /** Something that goes wrong. */
  private interface Fault {
    void strike() throws IOException;
  }

  @AfterEach
  void close() throws IOException {
    load.shutdownNow();
    relays.forEach(RelayProcess::close);
    reading.close();
    broker.close();
    database.close();
  }

  @Test
  void relaysAreKilledAgainAndAgain() throws Exception {
    assertThat(faultsAfter(this::killRelay)).isEmpty();
  }

  @Test
  void relaysAreKilledAndTheBrokerRestarts() throws Exception {
    assertThat(faultsAfter(this::killRelay, this::restartBroker)).isEmpty();
  }

  @Test
  void relaysAreKilledAndPostgresCrashes() throws Exception {
    assertThat(faultsAfter(this::killRelay, this::crashDatabase)).isEmpty();
  }

  /** The guard taken out: the position is committed after the events, on its own. */
  @Test
  void positionsOutsideTheEventsTransactionAreFoundOut() throws Exception {
    careless = true;
    assertThat(faultsAfter(this::killLeader))
        .isNotEmpty()
        .allMatch(fault -> fault.endsWith("came again"));
  }

  private List<String> faultsAfter(Fault... faults) throws Exception {
    LOG.info("repeat with -Dchaos.seed={}", seed);
    AtomicBoolean struckEnough = new AtomicBoolean();
    for (int i = 0; i < RELAYS; i++) {
      startRelay();
    }
    List<ChaosWriter> writers = new ArrayList<>();
    List<Future<List<String>>> writing = new ArrayList<>();
    for (int i = 0; i < WRITERS; i++) {
      writers.add(new ChaosWriter(config.ledger(), "w" + i, EVENTS / WRITERS, struckEnough::get));
    }
    writers.forEach(writer -> writing.add(load.submit(writer)));
    Awaitility.await().atMost(PATIENCE).until(() -> poll() > 0);
    int struck = 0;
    while (struck < FAULTS || writing.stream().anyMatch(one -> !one.isDone())) {
      // Not to wait for something: to let it happen at any moment.
      readFor(LEAST_PAUSE_MILLIS + random.nextInt(MORE_PAUSE_MILLIS));
      faults[struck++ % faults.length].strike();
      struckEnough.set(struck >= FAULTS);
    }
    int written = total(writing);
    LOG.info("{} events written, {} faults", written, struck);
    Awaitility.await().atMost(PATIENCE).until(() -> poll() >= written);
    Awaitility.await().atMost(PATIENCE).until(reading::atEnd);
    assertThat(reading.repeated()).as("the slot lived").isZero();
    List<String> found = new ArrayList<>();
    for (int i = 0; i < WRITERS; i++) {
      found.addAll(reading.faults(writers.get(i).key(), writing.get(i).get()));
    }
    return found;
  }

  private static int total(List<Future<List<String>>> writing)
      throws ExecutionException, InterruptedException {
    int total = 0;
    for (Future<List<String>> one : writing) {
      total += one.get().size();
    }
    return total;
  }

  private void readFor(int millis) {
    long end = System.nanoTime() + Duration.ofMillis(millis).toNanos();
    while (System.nanoTime() < end) {
      poll();
    }
  }

  /**
   * Reads on. A relay that finds no broker or database when it starts refuses to; whoever runs it
   * starts it again. One that has started never ends by itself.
   */
  private int poll() {
    for (RelayProcess ended : relays.stream().filter(relay -> !relay.isAlive()).toList()) {
      assertThat(ended.printed())
          .contains("Exception in thread \"main\" " + RelayFailedException.class.getName());
      LOG.info("{} refused to start", ended.name());
      relays.remove(ended);
      startRelay();
    }
    return reading.poll();
  }

  @BeforeEach
  void startServers() throws Exception {
    database = startDatabase(0);
    database.createDatabase("ledger");
    broker = EmbeddedBroker.start(directory.resolve("kafka"), 0);
    config =
        new RelayConfig(
            LedgerConfig.of(
                database.jdbcUrl("ledger"), EmbeddedDatabase.USER, EmbeddedDatabase.USER),
            Map.of("bootstrap.servers", broker.bootstrapServers()),
            TOPICS,
            SLOT,
            RelayTuning.DEFAULT);
    Migrator.migrate(config.ledger());
    try (Admin admin = Admin.create(Map.copyOf(config.kafka()))) {
      admin
          .createTopics(
              List.of(
                  new NewTopic(TOPICS.receipts(), 1, (short) 1),
                  new NewTopic(TOPICS.outcomes(), 3, (short) 1),
                  new NewTopic(TOPICS.deadLetters(), 1, (short) 1),
                  new NewTopic(TOPICS.relayPosition(), 1, (short) 1)
                      .configs(Map.of("cleanup.policy", "compact"))))
          .all()
          .get();
    }
    reading = new ChaosReader(config.bootstrapServers(), TOPICS.outcomes());
  }

  private EmbeddedDatabase startDatabase(int port) {
    return EmbeddedDatabase.start(
        directory.resolve("postgres"), port, Map.of("max_slot_wal_keep_size", "-1"));
  }

  private void startRelay() {
    relays.add(RelayProcess.start("chaos-" + started++, config, careless));
  }

  private void killRelay() {
    kill(relays.get(random.nextInt(relays.size())));
  }

  /** Whoever holds the advisory lock and streams. */
  private void killLeader() {
    Awaitility.await().atMost(PATIENCE).until(() -> poll() >= 0 && leaders("count(*)") == 1);
    // What was just read is committed, and its position is not, for a careless leader.
    int before = poll();
    Awaitility.await()
        .pollInterval(Duration.ofMillis(1))
        .atMost(PATIENCE)
        .until(() -> poll() > before);
    String name = "chaos-" + leaders("max(substr(l.application_name, 7)::bigint)");
    kill(relays.stream().filter(relay -> relay.name().equals(name)).findFirst().orElseThrow());
  }

  private long leaders(String what) {
    return database.number(
        "ledger",
        "select "
            + what
            + " from pg_stat_activity l join pg_locks using (pid), pg_replication_slots"
            + " where locktype = 'advisory' and granted and active_pid is not null"
            + " and l.datname = current_database()");
  }

  private void kill(RelayProcess relay) {
    relay.kill();
    relays.remove(relay);
    startRelay();
  }

  private void restartBroker() {
    int port = broker.port();
    broker.close();
    broker = EmbeddedBroker.start(directory.resolve("kafka"), port);
  }

  /** kill -9 of the postmaster: its children end with it, and recovery follows. */
  private void crashDatabase() throws IOException {
    int port = database.port();
    Path pidFile = directory.resolve("postgres").resolve("postmaster.pid");
    long pid = Long.parseLong(Files.readAllLines(pidFile).get(0).strip());
    ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
    Awaitility.await()
        .atMost(PATIENCE)
        .until(() -> ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty());
    database.close();
    database = startDatabase(port);
  }
}
