package io.escapement.ingest;

import io.escapement.ledger.Ledger;
import io.escapement.ledger.OutboxEvent;
import io.escapement.ledger.Role;
import io.escapement.ledger.TestLedger;
import io.escapement.ledger.TopicNames;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.consumer.Consumer;

/** A commands topic and a ledger of a test's own. */
final class CommandFixture implements AutoCloseable {

  private final IngestFixture servers = new IngestFixture(1);
  private final TopicNames topics = new TopicNames(servers.prefix());
  private final List<IngestAssembly> open = new ArrayList<>();

  CommandFixture() {
    servers.createTopic(topic(), 1);
  }

  IngestFixture servers() {
    return servers;
  }

  TestLedger database() {
    return servers.database();
  }

  String topic() {
    return topics.commands();
  }

  IngestConfig config() {
    return IngestConfig.ofCommands(topics);
  }

  /** A consumer that runs until the test ends. */
  IngestAssembly commands() {
    return commands(servers.kafka(), UnaryOperator.identity());
  }

  IngestAssembly commands(Map<String, Object> kafka, UnaryOperator<Consumer<byte[], byte[]>> lens) {
    Ledger ledger = database().connect(Role.OPERATOR);
    IngestAssembly commands = IngestAssembly.ofCommands(ledger, kafka, topics, config(), lens);
    open.add(commands);
    commands.start();
    return commands;
  }

  /** Client properties of a consumer that its group gives up on after a short silence. */
  Map<String, Object> soonThrownOut() {
    Map<String, Object> kafka = new HashMap<>(servers.kafka());
    kafka.put("max.poll.interval.ms", 1_000);
    return kafka;
  }

  void produce(RecordBuilder... records) {
    servers.produce(0, records);
  }

  /** A command that pauses a kind which the id names. */
  RecordBuilder pause(String id) {
    return command(id, "pause", "{\"scope\":\"kind\",\"name\":\"" + id + "\"}");
  }

  RecordBuilder command(String id, String type, String data) {
    return RecordBuilder.binary()
        .topic(topic())
        .without("ce_tenant")
        .with("ce_source", "/ops")
        .with("ce_id", id)
        .with("ce_type", type)
        .value(RecordBuilder.bytes(data));
  }

  List<OutboxEvent.CommandReceipt> receipts() {
    return database().events().stream()
        .filter(OutboxEvent.CommandReceipt.class::isInstance)
        .map(OutboxEvent.CommandReceipt.class::cast)
        .toList();
  }

  /** The offset and the decision of each receipt, in the order of the transactions. */
  List<String> decisions() {
    return receipts().stream().map(r -> r.offset() + " " + r.decision().word()).toList();
  }

  List<String> paused() {
    return database().column("select name from escapement.paused order by name");
  }

  @Override
  public void close() {
    open.forEach(IngestAssembly::close);
    servers.close();
  }
}
