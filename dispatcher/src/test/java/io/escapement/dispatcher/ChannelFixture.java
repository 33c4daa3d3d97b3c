package io.escapement.dispatcher;

import static io.escapement.dispatcher.DispatcherFixture.LIMIT;
import static org.awaitility.Awaitility.await;

import io.escapement.dispatcher.http.HttpChannel;
import io.escapement.dispatcher.http.HttpChannelFiles;
import io.escapement.embedded.stub.StubCounts;
import io.escapement.embedded.stub.StubProcess;
import io.escapement.embedded.stub.StubScript;
import io.escapement.ledger.ChannelDefinition;
import io.escapement.ledger.KindDefinition;
import io.escapement.ledger.PauseScope;
import io.escapement.ledger.Requests;
import io.escapement.ledger.TestLedger;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * A ledger with external channels, each set up by a file, and a provider in a process of its own;
 * all end with it.
 */
final class ChannelFixture implements AutoCloseable {

  /** Longer than any answer that is meant to come takes, even on a machine that is busy. */
  static final Duration TIMEOUT = Duration.ofSeconds(3);

  static final Duration LEASE = Duration.ofSeconds(6);

  final DispatcherFixture fixture;
  final TestLedger db;
  final StubProcess stub = StubProcess.start();
  final Path channels;

  ChannelFixture(Path directory) throws Exception {
    this.fixture = new DispatcherFixture(directory, 2);
    this.db = fixture.db;
    this.channels = Files.createDirectories(directory.resolve("channels"));
  }

  /** Lines of a channel's file, for a provider that knows keys. */
  String calls(String path) {
    return """
        url = %s%s
        replay = 200
        refused = 503
        rejected = 400
        message-id-header = X-Message-Id
        """
        .formatted(stub.messages(), path);
  }

  /** Lines of a channel's file, for a provider that can be asked. */
  String callsAndQueries(String path) {
    return calls(path) + "query.url = " + stub.messages() + "/{key}\nquery.not-found = 404\n";
  }

  /** Defines a channel, sets it up, and defines a kind of the same name that goes to it. */
  void define(ChannelDefinition channel, String file) throws IOException {
    define(channel, file, kind(channel.name()));
  }

  void define(ChannelDefinition channel, String file, KindDefinition kind) throws IOException {
    fixture.operator.defineChannel(channel, "test");
    Files.writeString(channels.resolve(channel.name() + ".properties"), file);
    fixture.operator.defineKind(kind, "test");
  }

  /** Three tries, 50 ms apart. */
  static KindDefinition kind(String channel) {
    return KindDefinition.local(channel)
        .withChannel(channel)
        .withMaxAttempts(3)
        .withLease(LEASE)
        .withBackoff(Duration.ofMillis(50), Duration.ofMillis(100), 0);
  }

  /** Starts a dispatcher in this JVM that calls the channels. */
  Dispatcher start(TaskHandler... handlers) {
    return start(config(), handlers);
  }

  Dispatcher start(DispatcherConfig config, TaskHandler... handlers) {
    return fixture.start(config, set(), handlers);
  }

  /** Many calls at once, and no outages: what fails is meant to. */
  DispatcherConfig config() {
    return DispatcherFixture.sized(fixture.config(), 50_000, 1_000, 8).withOutages(Outages.IGNORED);
  }

  /** The channels as their files set them up. */
  Channels set() {
    return Channels.of(
        HttpChannelFiles.read(channels, name -> null).stream().map(HttpChannel::new).toList());
  }

  /** What the provider knows a task by. */
  String key(String eventId) {
    return db.column(
            "select l.id || '-' || t.id from escapement.ledger l, escapement.task t"
                + " join escapement.intent i on i.id = t.intent_id where i.event_id = '"
                + eventId
                + "'")
        .get(0);
  }

  /** The outcomes of a task's attempts, in order. */
  List<String> outcomes(String eventId) {
    return db.column(
        "select a.outcome from escapement.attempt a join escapement.task t on t.id = a.task_id"
            + " join escapement.intent i on i.id = t.intent_id where i.event_id = '"
            + eventId
            + "' order by a.number");
  }

  /** The state of a request's one task; {@code UNKNOWN parked} if it is parked. */
  String state(String eventId) {
    return db.column(
            "select t.state || case when t.state = 'UNKNOWN' and t.due_at is null then ' parked'"
                + " else '' end from escapement.task t"
                + " join escapement.intent i on i.id = t.intent_id where i.event_id = '"
                + eventId
                + "'")
        .get(0);
  }

  void awaitState(String eventId, String state) {
    await(eventId).atMost(LIMIT).until(() -> state(eventId), state::equals);
  }

  /** Admits requests and gives their references scripts before any of them is claimed. */
  void submit(Map<String, StubScript> scripts, Function<String, Requests> request) {
    List<String> ids = List.copyOf(scripts.keySet());
    fixture.operator.pause(PauseScope.QUEUE, "default", "until the provider knows what to do");
    fixture.submit(ids.size(), i -> request.apply(ids.get(i)));
    Map<String, StubScript> byKey = new HashMap<>();
    for (String row :
        db.column(
            "select l.id || '-' || t.id || ' ' || i.event_id from escapement.ledger l,"
                + " escapement.task t join escapement.intent i on i.id = t.intent_id")) {
      int space = row.indexOf(' ');
      StubScript script = scripts.get(row.substring(space + 1));
      if (script != null) {
        byKey.put(row.substring(0, space), script);
      }
    }
    stub.scripts(byKey);
    fixture.operator.resume(PauseScope.QUEUE, "default", "go");
  }

  /** Waits until every task has ended or is parked. */
  void awaitSettled(Duration atMost) {
    await()
        .atMost(atMost)
        .until(
            () ->
                db.number(
                        "select count(*) from escapement.task"
                            + " where state in ('SCHEDULED', 'CLAIMED')"
                            + " or state = 'UNKNOWN' and due_at is not null")
                    == 0);
  }

  StubCounts counts(String eventId) {
    return stub.counts(key(eventId));
  }

  @Override
  public void close() {
    fixture.close();
    stub.close();
  }
}
