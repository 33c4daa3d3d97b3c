package io.escapement.dispatcher;

import static io.escapement.dispatcher.DispatcherFixture.LIMIT;
import static io.escapement.ledger.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.escapement.embedded.stub.StubCounts;
import io.escapement.embedded.stub.StubScript;
import io.escapement.ledger.ChannelDefinition;
import io.escapement.ledger.Contract;
import io.escapement.ledger.KindDefinition;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every contract with every sequence of what a provider may do, up to four calls and three
 * questions long, against a model of the provider and the rules of DESIGN §6: the attempts, the end
 * and the provider's own counts must agree (I8, I9).
 */
class ChannelCombinationsKafkaTest {

  private static final int TRIES = 4;

  /** With acceptance or without, with an answer or without. */
  private static final List<String> CALLS =
      List.of("accept", "accept-drop", "drop", "refuse", "reject");

  private static final List<List<String>> QUESTIONS =
      List.of(List.of(), List.of("fail"), List.of("fail", "fail"), List.of("find", "fail"));

  /** What a task's life should come to. */
  private record Life(List<String> outcomes, String state, int calls, int queries, int delivered) {}

  @TempDir Path directory;
  private ChannelFixture world;

  @BeforeEach
  void open() throws Exception {
    world = new ChannelFixture(directory);
    Duration timeout = Duration.ofSeconds(20);
    world.define(
        ChannelDefinition.idempotent("idempotent", timeout, null),
        world.calls(""),
        kind("idempotent"));
    world.define(
        ChannelDefinition.queryable("queryable", timeout, Duration.ZERO),
        world.callsAndQueries(""),
        kind("queryable"));
    world.define(
        ChannelDefinition.opaque("opaque", timeout),
        world.calls("").replace("replay = 200\n", ""),
        kind("opaque"));
  }

  private static KindDefinition kind(String channel) {
    return ChannelFixture.kind(channel)
        .withLease(Duration.ofSeconds(30))
        .withMaxAttempts(TRIES)
        .withBackoff(Duration.ofMillis(1), Duration.ofMillis(1), 0);
  }

  @AfterEach
  void close() {
    world.close();
  }

  @Test
  void whatIsStoredIsWhatIsKnownWhateverTheProviderDoes() {
    Map<String, StubScript> scripts = new LinkedHashMap<>();
    Map<String, Life> expected = new TreeMap<>();
    for (List<String> calls : sequences()) {
      for (Contract contract : List.of(Contract.IDEMPOTENT, Contract.OPAQUE)) {
        put(scripts, expected, contract, calls, List.of());
      }
      for (List<String> questions : QUESTIONS) {
        put(scripts, expected, Contract.QUERYABLE, calls, questions);
      }
    }
    Dispatcher dispatcher = world.start();
    await().atMost(LIMIT).until(() -> dispatcher.stats().slots() == DispatcherFixture.SLOTS);
    world.submit(scripts, id -> request(id).kind(id.substring(0, id.indexOf(' '))));
    world.awaitSettled(Duration.ofMinutes(5));
    assertThat(found()).hasSize(scripts.size()).isEqualTo(expected);
    assertThat(promisesBroken(expected)).isEmpty();
    assertThat(
            world.fixture.db.number(
                "select count(*) from escapement.task t where t.attempt <> (select count(*)"
                    + " from escapement.attempt a where a.task_id = t.id)"))
        .as("one row a finished attempt")
        .isZero();
  }

  /** The model itself can be told apart from one that forgets what is at large. */
  @Test
  void negativeControlALifeThatGuessesBreaksThePromises() {
    Map<String, Life> guessed = new TreeMap<>();
    guessed.put("opaque a", new Life(List.of("IO_ERROR"), "FAILED", 1, 0, 1));
    guessed.put("queryable a", new Life(List.of("IO_ERROR", "ACCEPTED"), "DONE", 2, 0, 2));
    assertThat(promisesBroken(guessed)).hasSize(2);
  }

  /** Tasks that were accepted and given up, or delivered more often than the contract allows. */
  private static List<String> promisesBroken(Map<String, Life> lives) {
    List<String> broken = new ArrayList<>();
    lives.forEach(
        (id, life) -> {
          boolean givenUp = life.state().equals("FAILED") && life.delivered() > 0;
          if (givenUp || life.delivered() > 1) {
            broken.add(id + " " + life);
          }
        });
    return broken;
  }

  private static void put(
      Map<String, StubScript> scripts,
      Map<String, Life> expected,
      Contract contract,
      List<String> calls,
      List<String> questions) {
    String kind = contract.name().toLowerCase(java.util.Locale.ROOT);
    String id = kind + " " + String.join(",", calls) + " " + String.join(",", questions);
    scripts.put(id, new StubScript(calls, questions));
    expected.put(id, live(contract, calls, questions));
  }

  private static List<List<String>> sequences() {
    List<List<String>> all = new ArrayList<>();
    List<List<String>> longest = List.of(List.of());
    for (int length = 1; length <= TRIES; length++) {
      List<List<String>> longer = new ArrayList<>();
      for (List<String> sequence : longest) {
        for (String call : CALLS) {
          List<String> one = new ArrayList<>(sequence);
          one.add(call);
          longer.add(one);
        }
      }
      all.addAll(longer);
      longest = longer;
    }
    return all;
  }

  /** The rules of DESIGN §6 in words, and a provider that keeps its contract. */
  private static Life live(Contract contract, List<String> calls, List<String> questions) {
    List<String> outcomes = new ArrayList<>();
    int called = 0;
    int asked = 0;
    int delivered = 0;
    boolean uncertain = false;
    for (int left = TRIES - 1; ; left--) {
      String seen;
      if (uncertain && contract == Contract.QUERYABLE) {
        String answer = asked < questions.size() ? questions.get(asked) : "find";
        asked++;
        seen =
            answer.equals("fail")
                ? "QUERY_FAILED"
                : delivered > 0 ? "QUERY_FOUND" : "QUERY_NOT_FOUND";
      } else {
        String call = called < calls.size() ? calls.get(called) : "accept";
        called++;
        boolean known = delivered > 0;
        delivered += call.startsWith("accept") && !known ? 1 : 0;
        seen =
            switch (call) {
              case "accept" -> known ? "ACCEPTED_REPLAY" : "ACCEPTED";
              case "refuse" -> "REFUSED";
              case "reject" -> "REJECTED";
              default -> "IO_ERROR";
            };
      }
      outcomes.add(seen);
      String end =
          switch (seen) {
            case "ACCEPTED", "ACCEPTED_REPLAY", "QUERY_FOUND" -> "DONE";
            case "REJECTED" -> uncertain ? "UNKNOWN parked" : "FAILED";
            case "REFUSED" -> left > 0 ? "" : uncertain ? "UNKNOWN parked" : "FAILED";
            case "IO_ERROR" -> left > 0 && contract != Contract.OPAQUE ? "" : "UNKNOWN parked";
            case "QUERY_NOT_FOUND" -> left > 0 ? "" : "FAILED";
            default -> left > 0 ? "" : "UNKNOWN parked";
          };
      if (!end.isEmpty()) {
        return new Life(outcomes, end, called, asked, delivered);
      }
      uncertain =
          switch (seen) {
            case "IO_ERROR" -> true;
            case "QUERY_NOT_FOUND" -> false;
            default -> uncertain;
          };
    }
  }

  private Map<String, Life> found() {
    Map<String, StubCounts> counts = world.stub.all();
    Map<String, Life> found = new HashMap<>();
    for (String row :
        world.db.column(
            "select i.event_id || '|' || (select l.id from escapement.ledger l) || '-' || t.id"
                + " || '|' || t.state || case when t.state = 'UNKNOWN' and t.due_at is null"
                + " then ' parked' else '' end || '|' || (select string_agg(a.outcome, ','"
                + " order by a.number) from escapement.attempt a where a.task_id = t.id)"
                + " from escapement.task t join escapement.intent i on i.id = t.intent_id")) {
      String[] parts = row.split("\\|", -1);
      StubCounts its = counts.get(parts[1]);
      found.put(
          parts[0],
          new Life(
              List.of(parts[3].split(",", -1)),
              parts[2],
              its == null ? 0 : its.calls(),
              its == null ? 0 : its.queries(),
              its == null ? 0 : its.delivered()));
    }
    return new TreeMap<>(found);
  }
}
