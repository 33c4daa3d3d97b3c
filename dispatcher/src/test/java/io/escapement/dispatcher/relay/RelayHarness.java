package io.escapement.dispatcher.relay;

import io.escapement.ledger.TestLedger;
import io.escapement.ledger.TopicNames;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.awaitility.Awaitility;

/** A ledger, its topics and its slot, for one test; relays and writers that are closed with it. */
final class RelayHarness implements AutoCloseable {

  static final String QUEUE = "work";
  static final int DISPATCH_PARTITIONS = 3;
  static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final AtomicInteger NEXT = new AtomicInteger();

  private final TestLedger ledger;
  private final String name = "relay_test_" + NEXT.incrementAndGet();
  private final TopicNames topics = new TopicNames(name);
  private final List<AutoCloseable> open = new ArrayList<>();

  private RelayHarness(TestLedger ledger) {
    this.ledger = ledger;
  }

  static RelayHarness create() {
    return create(TestLedger.create());
  }

  /** One on this ledger, which is closed with it. */
  static RelayHarness create(TestLedger ledger) {
    RelayHarness harness = new RelayHarness(ledger);
    harness.createTopic(harness.topics.receipts(), 2, Map.of());
    harness.createTopic(harness.topics.outcomes(), 2, Map.of());
    harness.createTopic(harness.topics.deadLetters(), 1, Map.of());
    harness.createTopic(harness.topics.dispatch(QUEUE), DISPATCH_PARTITIONS, Map.of());
    harness.createTopic(harness.topics.relayPosition(), 1, Map.of("cleanup.policy", "compact"));
    return harness;
  }

  TestLedger ledger() {
    return ledger;
  }

  TopicNames topics() {
    return topics;
  }

  String slot() {
    return name;
  }

  /** Rows stay, pauses are short. */
  RelayConfig config() {
    return new RelayConfig(
        ledger.config(),
        Map.of("bootstrap.servers", TestBroker.bootstrapServers()),
        topics,
        slot(),
        RelayTuning.DEFAULT.withPruneGrace(Duration.ofHours(1)));
  }

  /** A relay that has been started; closed with the harness if not before. */
  Relay startRelay() {
    return startRelay(config());
  }

  Relay startRelay(RelayConfig config) {
    return start(new Relay(config));
  }

  /** The same for one that was made by the test. */
  Relay start(Relay relay) {
    open.add(relay);
    relay.start();
    return relay;
  }

  OutboxWriter writer(String who) {
    OutboxWriter writer = new OutboxWriter(ledger, who);
    open.add(writer);
    return writer;
  }

  EventReader reader() {
    EventReader reader =
        new EventReader(
            TestBroker.bootstrapServers(),
            List.of(
                topics.receipts(),
                topics.outcomes(),
                topics.deadLetters(),
                topics.dispatch(QUEUE)));
    open.add(reader);
    return reader;
  }

  void createTopic(String topic, int partitions, Map<String, String> settings) {
    try (Admin admin = admin()) {
      admin
          .createTopics(List.of(new NewTopic(topic, partitions, (short) 1).configs(settings)))
          .all()
          .get();
    } catch (ExecutionException | InterruptedException e) {
      throw new IllegalStateException(topic, e);
    }
  }

  Admin admin() {
    return Admin.create(Map.of("bootstrap.servers", TestBroker.bootstrapServers()));
  }

  /** A server process outlives its client by a moment. */
  void awaitFreeSlot() {
    Awaitility.await()
        .atMost(PATIENCE)
        .until(
            () ->
                ledger.number(
                        "select count(*) from pg_replication_slots"
                            + " where active_pid is not null and slot_name = '"
                            + slot()
                            + "'")
                    == 0);
  }

  /** Ends whoever streams from the slot, and drops it before anybody streams again. */
  void dropSlot() {
    dropSlot(ledger, slot());
  }

  /** The same for any slot; nothing if there is none of that name. */
  static void dropSlot(TestLedger ledger, String slot) {
    ledger.execute(
        """
        do $$ begin
          for i in 1..1000 loop
            begin
              perform pg_terminate_backend(active_pid) from pg_replication_slots
              where slot_name = '%1$s' and active_pid is not null;
              perform pg_drop_replication_slot(slot_name) from pg_replication_slots
              where slot_name = '%1$s';
              return;
            exception when object_in_use then
              perform pg_sleep(0.01);
            end;
          end loop;
        end $$
        """
            .formatted(slot));
  }

  @Override
  public void close() {
    for (AutoCloseable one : open.reversed()) {
      try {
        one.close();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
    dropSlot();
    ledger.close();
  }
}
