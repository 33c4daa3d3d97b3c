package io.escapement.dispatcher.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.escapement.embedded.EmbeddedDatabase;
import io.escapement.ledger.TestLedger;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * PostgreSQL gives up the slot under a relay that streams from it: what the slot keeps has grown
 * beyond {@code max_slot_wal_keep_size} because something on the way stands still. Events are
 * written all the time.
 */
class SlotInvalidatedKafkaTest {

  private static final Logger LOG = LoggerFactory.getLogger(SlotInvalidatedKafkaTest.class);

  /** Two segments of the log, and more of them than that. */
  private static final String KEPT = "32MB";

  private static final int SEGMENTS_WRITTEN = 6;

  /** Seconds are promised on a machine that does nothing else; tests' machines do. */
  private static final Duration NOTICED = Duration.ofSeconds(30);

  private static final int EVENTS_WHILE_HELD = 100;

  @TempDir static Path directory;
  private static EmbeddedDatabase server;

  private final ExecutorService background = Executors.newCachedThreadPool();
  private final AtomicBoolean writing = new AtomicBoolean(true);
  private RelayHarness harness;
  private OutboxWriter writer;
  private EventReader reader;

  /** A server of its own: the limit is for all its slots. */
  @BeforeAll
  static void startServer() {
    server =
        EmbeddedDatabase.start(
            directory.resolve("postgres"), 0, Map.of("max_slot_wal_keep_size", KEPT));
  }

  @AfterAll
  static void stopServer() throws IOException {
    server.close();
  }

  @BeforeEach
  void open() {
    harness = RelayHarness.create(TestLedger.createOn(server));
    writer = harness.writer("w");
    reader = harness.reader();
  }

  @AfterEach
  void close() {
    writing.set(false);
    background.shutdownNow();
    harness.close();
  }

  @Test
  void aSlotLostWhileItsSenderStoodStillIsMadeAgainAndEveryEventComes() throws Exception {
    invalidateUnderAFrozenSender(startRelay(() -> {}, false));
    awaitAllAndOneMore();
    assertThat(faults()).isEmpty();
    assertThat(reader.events()).anyMatch(EventReader.Event::repeated);
  }

  /** The guard taken out: a slot that is made again, and no look into the table. */
  @Test
  void aSlotThatIsOnlyMadeAgainIsFoundOut() throws Exception {
    invalidateUnderAFrozenSender(startRelay(() -> {}, true));
    awaitLastOnly();
    assertThat(faults()).isNotEmpty().allMatch(fault -> fault.endsWith("is missing"));
  }

  /** What Kafka takes at last, it takes while the slot is lost already. */
  @Test
  void aSlotLostWhileKafkaTookNothingIsMadeAgainAndEveryEventComes() throws Exception {
    AtomicBoolean holding = new AtomicBoolean();
    CountDownLatch release = new CountDownLatch(1);
    Relay relay = startRelay(() -> hold(holding, release), false);
    Future<?> load = startLoad();
    holding.set(true);
    overrun();
    server.execute("postgres", "checkpoint");
    awaitLost();
    long lost = System.nanoTime();
    holding.set(false);
    release.countDown();
    awaitNoticed(relay, lost);
    finish(load);
    awaitAllAndOneMore();
    assertThat(faults()).isEmpty();
    assertThat(reader.events()).anyMatch(EventReader.Event::repeated);
  }

  @Test
  void aSlotLostWhileTheRelaysProcessStoodStillIsMadeAgainAndEveryEventComes() throws Exception {
    try (RelayProcess relay = RelayProcess.start("invalidated", harness.config())) {
      awaitStream();
      Future<?> load = startLoad();
      relay.freeze();
      overrun();
      server.execute("postgres", "checkpoint");
      awaitLost();
      relay.thaw();
      long thawed = System.nanoTime();
      awaitStreaming();
      logNoticed(thawed);
      finish(load);
      awaitAllAndOneMore();
    }
    assertThat(faults()).isEmpty();
    assertThat(reader.events()).anyMatch(EventReader.Event::repeated);
  }

  /** The checkpoint that gives up the slot ends its sender first, and waits for that. */
  private void invalidateUnderAFrozenSender(Relay relay) throws Exception {
    Future<?> load = startLoad();
    long sender = slot("active_pid");
    JavaProcess.freeze(sender);
    try {
      overrun();
      Future<?> checkpoint = background.submit(() -> server.execute("postgres", "checkpoint"));
      await()
          .atMost(RelayHarness.PATIENCE)
          .until(
              () ->
                  server.number(
                          "postgres",
                          "select count(*) from pg_stat_activity"
                              + " where backend_type = 'checkpointer'"
                              + " and wait_event = 'ReplicationSlotDrop'")
                      == 1);
      assertThat(relay.health().terms()).as("it streams").isEqualTo(1);
      JavaProcess.thaw(sender);
      long thawed = System.nanoTime();
      checkpoint.get();
      awaitLost();
      awaitNoticed(relay, thawed);
    } finally {
      JavaProcess.thaw(sender);
    }
    finish(load);
  }

  private Relay startRelay(Runnable beforeCommit, boolean forgetful) {
    RelayConfig config =
        harness.config().withTuning(RelayTuning.DEFAULT.withPruneGrace(Duration.ZERO));
    Relay relay =
        harness.start(
            new Relay(
                config,
                (ledgerId, timeout) ->
                    new AlteredSink(
                        KafkaSink.open(config, ledgerId, timeout), beforeCommit, forgetful)));
    awaitStream();
    return relay;
  }

  private static void hold(AtomicBoolean holding, CountDownLatch release) {
    try {
      if (holding.get()) {
        release.await();
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("the term ended while Kafka took nothing", e);
    }
  }

  /** The first rows may come from the table; what follows them comes by the stream. */
  private void awaitStream() {
    for (int i = 0; i < 2; i++) {
      writer.write(1);
      reader.awaitAll(writer.committed());
    }
  }

  private Future<?> startLoad() {
    return background.submit(
        () -> {
          while (writing.get()) {
            writer.write(1);
            LockSupport.parkNanos(5_000_000);
          }
        });
  }

  private void finish(Future<?> load) throws Exception {
    writing.set(false);
    load.get();
  }

  /** Writes more log than may be kept, and events that the relay can't have sent. */
  private void overrun() {
    int before = writer.committed().size();
    for (int i = 0; i < SEGMENTS_WRITTEN; i++) {
      server.execute(
          "postgres", "select pg_logical_emit_message(false, 'other', 'log'), pg_switch_wal()");
    }
    await()
        .atMost(RelayHarness.PATIENCE)
        .until(() -> writer.committed().size() >= before + EVENTS_WHILE_HELD);
  }

  /** The server says so itself: by the time one looks, the slot may have been made again. */
  private void awaitLost() {
    String said = "invalidating obsolete replication slot \"" + harness.slot() + "\"";
    Path log = directory.resolve("postgres.log");
    await().atMost(RelayHarness.PATIENCE).until(() -> Files.readString(log).contains(said));
  }

  private void awaitNoticed(Relay relay, long sinceNanos) {
    awaitStreaming();
    assertThat(relay.health().terms()).isGreaterThanOrEqualTo(2);
    logNoticed(sinceNanos);
  }

  /** A slot that was invalidated is so for good: this is another one. */
  private void awaitStreaming() {
    await()
        .atMost(NOTICED)
        .until(
            () ->
                slot(
                        "case when active_pid is not null and invalidation_reason is null"
                            + " then 1 else 0 end")
                    == 1);
  }

  private void logNoticed(long sinceNanos) {
    LOG.info(
        "{} ms until a new slot was streamed from",
        Duration.ofNanos(System.nanoTime() - sinceNanos).toMillis());
  }

  private long slot(String what) {
    return server.number(
        "postgres",
        "select coalesce(max("
            + what
            + "), 0) from pg_replication_slots where slot_name = '"
            + harness.slot()
            + "'");
  }

  private void awaitAllAndOneMore() {
    reader.awaitAll(writer.committed());
    writer.write(1);
    reader.awaitAll(writer.committed());
    reader.readToEnd();
    assertThat(reader.events().getLast().repeated()).as("by the stream again").isFalse();
  }

  private void awaitLastOnly() {
    writer.write(1);
    reader.awaitAll(List.of(writer.committed().getLast()));
    reader.readToEnd();
  }

  /**
   * What is wrong for a consumer that skips marked events which it knows: something is missing,
   * came again without a mark, or came for the first time out of order. Empty is the good answer.
   */
  private List<String> faults() {
    List<String> faults = new ArrayList<>();
    Set<String> seen = new LinkedHashSet<>();
    for (EventReader.Event event : reader.events()) {
      if (!seen.add(event.id()) && !event.repeated()) {
        faults.add(event.id() + " came again without a mark");
      }
    }
    List<String> committed = writer.committed();
    committed.stream()
        .filter(id -> !seen.contains(id))
        .forEach(id -> faults.add(id + " is missing"));
    if (faults.isEmpty() && !List.copyOf(seen).equals(committed)) {
      faults.add("not what was committed, or not in the order of the commits");
    }
    return faults;
  }
}
