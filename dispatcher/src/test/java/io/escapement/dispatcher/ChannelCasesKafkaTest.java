package io.escapement.dispatcher;

import static io.escapement.dispatcher.DispatcherFixture.LIMIT;
import static io.escapement.ledger.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.escapement.embedded.stub.StubCounts;
import io.escapement.embedded.stub.StubScript;
import io.escapement.ledger.ChannelDefinition;
import io.escapement.ledger.Requests;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a provider does and how it ends: the attempts, the state, and what the provider itself has
 * counted. All cases run side by side, then each is looked at.
 */
class ChannelCasesKafkaTest {

  /**
   * One request.
   *
   * @param channel also its kind
   * @param calls what the provider does with the calls
   * @param queries what it does with the questions
   * @param outcomes of the attempts
   * @param delivered how many messages the provider took
   */
  private record Case(
      String channel,
      List<String> calls,
      List<String> queries,
      UnaryOperator<Requests> request,
      List<String> outcomes,
      String state,
      int callsCounted,
      int queriesCounted,
      int delivered) {

    static Case of(String channel, String... calls) {
      return new Case(
          channel, List.of(calls), List.of(), UnaryOperator.identity(), List.of(), "", 0, 0, 0);
    }

    Case asked(String... answers) {
      return new Case(
          channel,
          calls,
          List.of(answers),
          request,
          outcomes,
          state,
          callsCounted,
          queriesCounted,
          delivered);
    }

    Case with(UnaryOperator<Requests> more) {
      return new Case(
          channel, calls, queries, more, outcomes, state, callsCounted, queriesCounted, delivered);
    }

    Case sees(String... attempts) {
      return new Case(
          channel,
          calls,
          queries,
          request,
          List.of(attempts),
          state,
          callsCounted,
          queriesCounted,
          delivered);
    }

    Case ends(String end, int callsSeen, int queriesSeen, int taken) {
      return new Case(
          channel, calls, queries, request, outcomes, end, callsSeen, queriesSeen, taken);
    }
  }

  private static final Map<String, Case> CASES = new LinkedHashMap<>();

  static {
    CASES.put("delivered", Case.of("keys").sees("ACCEPTED").ends("DONE", 1, 0, 1));
    CASES.put(
        "silent after acceptance, sent again with the same key",
        Case.of("keys", "accept-hang").sees("TIMEOUT", "ACCEPTED_REPLAY").ends("DONE", 2, 0, 1));
    CASES.put(
        "silent after acceptance, then found",
        Case.of("asks", "accept-hang").sees("TIMEOUT", "QUERY_FOUND").ends("DONE", 1, 1, 1));
    CASES.put(
        "silent without acceptance, not found, sent again",
        Case.of("asks", "hang")
            .sees("TIMEOUT", "QUERY_NOT_FOUND", "ACCEPTED")
            .ends("DONE", 2, 1, 1));
    CASES.put(
        "questions fail until the tries are used up",
        Case.of("asks", "accept-hang")
            .asked("fail", "status:500", "fail")
            .sees("TIMEOUT", "QUERY_FAILED", "QUERY_FAILED")
            .ends("UNKNOWN parked", 1, 2, 1));
    CASES.put(
        "a question that hangs is a failed one",
        Case.of("asks", "accept-drop")
            .asked("hang")
            .sees("IO_ERROR", "QUERY_FAILED", "QUERY_FOUND")
            .ends("DONE", 1, 2, 1));
    CASES.put(
        "nothing is promised, so the first silence is the last call",
        Case.of("blind", "accept-hang").sees("TIMEOUT").ends("UNKNOWN parked", 1, 0, 1));
    CASES.put(
        "503 before acceptance",
        Case.of("keys", "refuse", "refuse", "refuse")
            .sees("REFUSED", "REFUSED", "REFUSED")
            .ends("FAILED", 3, 0, 0));
    CASES.put("400", Case.of("keys", "reject").sees("REJECTED").ends("FAILED", 1, 0, 0));
    CASES.put(
        "503 after an unknown outcome, tries used up",
        Case.of("keys", "accept-hang", "refuse")
            .with(r -> r.maxAttempts(2))
            .sees("TIMEOUT", "REFUSED")
            .ends("UNKNOWN parked", 2, 0, 1));
    CASES.put(
        "400 after an unknown outcome",
        Case.of("keys", "accept-hang", "reject")
            .sees("TIMEOUT", "REJECTED")
            .ends("UNKNOWN parked", 2, 0, 1));
    CASES.put(
        "500 after acceptance does not tell",
        Case.of("keys", "accept-status:500")
            .sees("UNCLEAR", "ACCEPTED_REPLAY")
            .ends("DONE", 2, 0, 1));
    CASES.put(
        "the connection breaks after acceptance",
        Case.of("keys", "accept-drop").sees("IO_ERROR", "ACCEPTED_REPLAY").ends("DONE", 2, 0, 1));
    CASES.put(
        "a redirect is not followed",
        Case.of("blind", "status:302").sees("UNCLEAR").ends("UNKNOWN parked", 1, 0, 0));
    CASES.put(
        "an answer without end", Case.of("endless", "huge").sees("ACCEPTED").ends("DONE", 1, 0, 1));
    CASES.put(
        "no connection",
        Case.of("nowhere").sees("REFUSED", "REFUSED", "REFUSED").ends("FAILED", 0, 0, 0));
    CASES.put(
        "expired before the claim",
        Case.of("keys")
            .with(r -> r.dueAt(null).expiresAt(Instant.now().plusMillis(200)))
            .sees("TTL_EXPIRED")
            .ends("FAILED", 0, 0, 0));
    CASES.put(
        "expired after an unknown outcome",
        Case.of("slowly", "accept-hang")
            .with(r -> r.expiresAt(Instant.now().plusSeconds(12)))
            .sees("TIMEOUT", "TTL_EXPIRED")
            .ends("UNKNOWN parked", 1, 0, 1));
    CASES.put(
        "the key might be forgotten by now",
        Case.of("forgetful", "accept-hang", "forget")
            .sees("TIMEOUT", "KEY_EXPIRED")
            .ends("UNKNOWN parked", 1, 0, 1));
    CASES.put(
        "negative control: the key is forgotten, and nobody has said so",
        Case.of("keys", "accept-hang", "forget").sees("TIMEOUT", "ACCEPTED").ends("DONE", 2, 0, 2));
    CASES.put(
        "negative control: who asks a liar sends twice",
        Case.of("asks", "accept-hang", "forget")
            .asked("not-found")
            .sees("TIMEOUT", "QUERY_NOT_FOUND", "ACCEPTED")
            .ends("DONE", 2, 1, 2));
    CASES.put(
        "negative control: sent again where a question was due",
        Case.of("unasked", "accept-hang").sees("TIMEOUT", "ACCEPTED").ends("DONE", 2, 0, 2));
  }

  @TempDir static Path directory;
  private static ChannelFixture world;

  @BeforeAll
  static void runAll() throws Exception {
    world = new ChannelFixture(directory);
    Duration timeout = ChannelFixture.TIMEOUT;
    Duration settle = Duration.ofMillis(100);
    world.define(ChannelDefinition.idempotent("keys", timeout, null), world.calls(""));
    world.define(ChannelDefinition.queryable("asks", timeout, settle), world.callsAndQueries(""));
    world.define(ChannelDefinition.opaque("blind", timeout), world.calls(""));
    // It takes "200" for an acceptance, as most do.
    String takes200 = world.calls("").replace("replay = 200\n", "");
    world.define(ChannelDefinition.opaque("endless", timeout), takes200);
    world.define(ChannelDefinition.idempotent("slowly", timeout, null), world.calls(""));
    world.define(
        ChannelDefinition.idempotent("forgetful", timeout, Duration.ofSeconds(7)), world.calls(""));
    // Said to know keys, and does not: what a channel is defined as must be so.
    world.define(
        ChannelDefinition.idempotent("unasked", timeout, null),
        takes200 + "url = " + world.stub.messages() + "?dedupe=false\n");
    try (ServerSocket free = new ServerSocket(0)) {
      world.define(
          ChannelDefinition.opaque("nowhere", timeout),
          "url = http://127.0.0.1:" + free.getLocalPort() + "/\n");
    }
    Duration backoff = Duration.ofSeconds(20);
    for (String patient : List.of("slowly", "forgetful")) {
      world.fixture.operator.defineKind(
          ChannelFixture.kind(patient).withBackoff(backoff, backoff, 0), "test");
    }
    Dispatcher dispatcher = world.start();
    await().atMost(LIMIT).until(() -> dispatcher.stats().slots() == DispatcherFixture.SLOTS);
    Map<String, StubScript> scripts = new LinkedHashMap<>();
    CASES.forEach((name, one) -> scripts.put(name, new StubScript(one.calls(), one.queries())));
    world.submit(
        scripts,
        name -> {
          Case one = Objects.requireNonNull(CASES.get(name));
          return one.request().apply(request(name).kind(one.channel()));
        });
    world.awaitSettled(Duration.ofMinutes(2));
  }

  @AfterAll
  static void close() {
    world.close();
  }

  @TestFactory
  Stream<DynamicTest> cases() {
    return CASES.entrySet().stream()
        .map(one -> DynamicTest.dynamicTest(one.getKey(), () -> check(one)));
  }

  private static void check(Map.Entry<String, Case> one) {
    Case expected = one.getValue();
    assertThat(world.outcomes(one.getKey())).containsExactlyElementsOf(expected.outcomes());
    assertThat(world.state(one.getKey())).isEqualTo(expected.state());
    StubCounts counts = world.counts(one.getKey());
    assertThat(List.of(counts.calls(), counts.queries(), counts.delivered()))
        .as("calls, queries and messages delivered")
        .containsExactly(expected.callsCounted(), expected.queriesCounted(), expected.delivered());
  }

  @Test
  void aQuestionWaitsUntilWhatWasSentCanBeFound() {
    assertThat(
            world.db.number(
                "select count(*) from escapement.attempt q join escapement.attempt s"
                    + " on s.task_id = q.task_id and s.number = q.number - 1"
                    + " where q.action = 'QUERY' and s.action = 'SEND'"
                    + " and q.claimed_at < s.finished_at + interval '100 ms'"))
        .isZero();
  }

  @Test
  void theProvidersNameForAMessageIsKept() {
    assertThat(
            world.db.number(
                "select count(*) from escapement.attempt where outcome = 'ACCEPTED'"
                    + " and message_id is null"))
        .isZero();
  }

  @Test
  void whatIsParkedIsNotClaimedAndIsListed() {
    long parked =
        world.db.number(
            "select count(*) from escapement.task where state = 'UNKNOWN' and due_at is null");
    assertThat(parked).isEqualTo(7);
    assertThat(world.db.number("select count(*) from escapement.needs_review")).isEqualTo(parked);
  }
}
