package io.escapement.embedded.stub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a caller meets. */
class StubProviderTest {

  private static final Duration SOON = Duration.ofMillis(300);

  private StubProvider stub;
  private Caller caller;

  @BeforeEach
  void start() {
    stub = StubProvider.start(StubProvider.Config.ephemeral());
    caller = new Caller(stub.url());
  }

  @AfterEach
  void stop() {
    caller.close();
    stub.close();
  }

  @Test
  void withoutAScriptACallIsAccepted() throws Exception {
    HttpResponse<String> answer = caller.call("a");
    assertThat(answer.statusCode()).isEqualTo(202);
    assertThat(answer.body()).isEqualTo("{\"id\":\"" + messageId(answer) + "\"}");
    assertThat(answer.headers().firstValue("X-Replayed")).isEmpty();
    assertCounts("a", 1, 1, 0);
  }

  @Test
  void aRememberedKeyIsAnsweredWithTheFirstMessageAndDeliversNothing() throws Exception {
    String first = messageId(caller.call("a"));
    HttpResponse<String> again = caller.call("a");
    assertThat(again.statusCode()).isEqualTo(200);
    assertThat(again.headers().firstValue("X-Replayed")).contains("true");
    assertThat(messageId(again)).isEqualTo(first);
    assertCounts("a", 2, 1, 1);
  }

  @Test
  void withDedupeFalseEveryAcceptedCallDelivers() throws Exception {
    assertThat(messageId(caller.callBlind("a"))).isNotEqualTo(messageId(caller.callBlind("a")));
    assertCounts("a", 2, 2, 0);
    assertThat(caller.send(post("/messages?dedupe=maybe")).statusCode()).isEqualTo(400);
  }

  @Test
  void theReferenceIsTheFirstOfThreeHeadersOnAnyPathByPostOrPut() throws Exception {
    caller.send(post("/messages").header("webhook-id", "c").header("X-Reference", "b"));
    caller.send(post("/messages/any/thing").header("webhook-id", "c"));
    caller.send(
        caller
            .request("/messages/x")
            .header("Idempotency-Key", "a")
            .header("X-Reference", "b")
            .PUT(BodyPublishers.noBody()));
    assertCounts("a", 1, 1, 0);
    assertCounts("b", 1, 1, 0);
    assertCounts("c", 1, 1, 0);
  }

  @Test
  void aCallWithoutAReferenceIsToldWhichHeadersThereAre() throws Exception {
    HttpResponse<String> answer = caller.send(post("/messages"));
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).contains("Idempotency-Key, X-Reference, webhook-id").hasLineCount(1);
  }

  @Test
  void stepsAreTakenInOrderAndThenItAccepts() throws Exception {
    caller.calls("a", "refuse", "reject", "accept");
    assertThat(statuses("a", 4)).containsExactly(503, 400, 202, 200);
    assertCounts("a", 4, 1, 1);
  }

  @Test
  void acceptDelayAcceptsAtOnceAndAnswersLater() throws Exception {
    caller.calls("a", "accept-delay:1500");
    long before = System.nanoTime();
    CompletableFuture<HttpResponse<String>> answer = caller.callAsync("a");
    awaitCounts("a", 1, 1, 0);
    assertThat(answer).isNotDone();
    assertThat(answer.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(202);
    assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThan(Duration.ofMillis(1499));
  }

  @Test
  void acceptHangAcceptsAndNeverAnswers() throws Exception {
    caller.calls("a", "accept-hang");
    assertHangs("a");
    assertThat(caller.call("a").headers().firstValue("X-Replayed")).contains("true");
    assertCounts("a", 2, 1, 1);
  }

  @Test
  void hangDoesNotAcceptAndNeverAnswers() throws Exception {
    caller.calls("a", "hang");
    assertHangs("a");
    assertCounts("a", 1, 0, 0);
    assertThat(caller.call("a").statusCode()).isEqualTo(202);
  }

  @Test
  void acceptDropAcceptsAndClosesTheConnection() throws Exception {
    caller.calls("a", "accept-drop");
    assertDrops("a");
    assertCounts("a", 1, 1, 0);
  }

  @Test
  void dropDoesNotAcceptAndClosesTheConnection() throws Exception {
    caller.calls("a", "drop");
    assertDrops("a");
    assertCounts("a", 1, 0, 0);
  }

  @Test
  void refuseSaysWhenToComeBackOnlyIfTold() throws Exception {
    caller.calls("a", "refuse", "refuse:7");
    HttpResponse<String> plain = caller.call("a");
    assertThat(plain.statusCode()).isEqualTo(503);
    assertThat(plain.headers().firstValue("Retry-After")).isEmpty();
    HttpResponse<String> later = caller.call("a");
    assertThat(later.statusCode()).isEqualTo(503);
    assertThat(later.headers().firstValue("Retry-After")).contains("7");
    assertCounts("a", 2, 0, 0);
  }

  @Test
  void rejectIs400AndNotAccepted() throws Exception {
    caller.calls("a", "reject");
    assertThat(caller.call("a").statusCode()).isEqualTo(400);
    assertCounts("a", 1, 0, 0);
  }

  @Test
  void statusIsAnyStatusAndNotAccepted() throws Exception {
    caller.calls(
        "a", "status:200", "status:204", "status:307", "status:304", "status:418", "status:599");
    assertThat(caller.call("a").statusCode()).isEqualTo(200);
    assertThat(caller.call("a").statusCode()).isEqualTo(204);
    HttpResponse<String> redirect = caller.call("a");
    assertThat(redirect.statusCode()).isEqualTo(307);
    assertThat(redirect.headers().firstValue("Location")).contains("/messages/redirected");
    assertThat(statuses("a", 3)).containsExactly(304, 418, 599);
    assertCounts("a", 6, 0, 0);
    assertThat(caller.query("a").statusCode()).isEqualTo(404);
  }

  @Test
  void acceptStatusAcceptsAndAnswersWithThatStatus() throws Exception {
    caller.calls("a", "accept-status:500", "accept-status:302");
    HttpResponse<String> answer = caller.call("a");
    assertThat(answer.statusCode()).isEqualTo(500);
    assertThat(caller.query("a").body()).contains(messageId(answer));
    assertThat(caller.call("a").headers().firstValue("Location")).isPresent();
    assertCounts("a", 2, 1, 1);
  }

  @Test
  void forgetForgetsTheKeyAndDeliversAgain() throws Exception {
    caller.calls("a", "accept", "forget", "accept");
    String first = messageId(caller.call("a"));
    HttpResponse<String> forgotten = caller.call("a");
    assertThat(forgotten.statusCode()).isEqualTo(202);
    assertThat(messageId(forgotten)).isNotEqualTo(first);
    assertThat(messageId(caller.call("a"))).isEqualTo(messageId(forgotten));
    assertCounts("a", 3, 2, 1);
  }

  @Test
  void hugeAcceptsAndAnswersUntilTheCallerGoesAway() throws Exception {
    caller.calls("a", "huge");
    HttpResponse<InputStream> answer = caller.open("a");
    assertThat(answer.statusCode()).isEqualTo(200);
    try (InputStream body = answer.body()) {
      assertThat(new String(body.readNBytes(6), StandardCharsets.UTF_8)).isEqualTo("{\"id\":");
      assertThat(body.skip(30_000_000)).isEqualTo(30_000_000);
    }
    assertCounts("a", 1, 1, 0);
    assertThat(caller.call("a").statusCode()).isEqualTo(200);
  }

  @Test
  void aStepThatAcceptsWhatWasAcceptedReplaysWhateverItAnswers() throws Exception {
    caller.calls("a", "accept", "accept-status:500", "accept-drop", "refuse", "accept-hang");
    caller.call("a");
    assertThat(caller.call("a").headers().firstValue("X-Replayed")).contains("true");
    assertDrops("a");
    assertThat(caller.call("a").statusCode()).isEqualTo(503);
    assertHangs("a");
    assertCounts("a", 5, 1, 3);
  }

  @Test
  void aQueryFindsWhatWasAcceptedAndNothingElse() throws Exception {
    caller.calls("a", "refuse", "accept-drop");
    assertThat(caller.query("a").statusCode()).isEqualTo(404);
    caller.call("a");
    assertThat(caller.query("a").statusCode()).isEqualTo(404);
    assertDrops("a");
    HttpResponse<String> found = caller.query("a");
    assertThat(found.statusCode()).isEqualTo(200);
    assertThat(found.body()).isEqualTo("{\"id\":\"" + messageId(found) + "\"}");
    assertThat(caller.counts("a")).contains("\"queries\":3");
  }

  @Test
  void queriesHaveStepsOfTheirOwn() throws Exception {
    caller.call("a");
    caller.queries("a", "fail", "not-found", "status:429", "find");
    List<Integer> statuses = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      statuses.add(caller.query("a").statusCode());
    }
    assertThat(statuses).containsExactly(500, 404, 429, 200, 200);
    assertThat(caller.counts("a")).contains("\"calls\":1", "\"queries\":5");
  }

  /** The JDK's client asks again, unseen, when a GET is dropped: a plain socket does not. */
  @Test
  void aQueryMayHangOrDrop() throws Exception {
    caller.queries("a", "hang", "drop");
    assertThatThrownBy(() -> caller.queryFor(SOON, "a")).isInstanceOf(HttpTimeoutException.class);
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), stub.port())) {
      String head = "GET /messages/a HTTP/1.1\r\nHost: stub\r\n\r\n";
      socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
      assertThat(socket.getInputStream().read()).isEqualTo(-1);
    }
    assertThat(caller.counts("a")).contains("\"queries\":2");
  }

  @Test
  void aQueryNeedsAReferenceAndOtherMethodsAreRefused() throws Exception {
    assertThat(caller.query("").statusCode()).isEqualTo(400);
    HttpResponse<String> answer = caller.send(caller.request("/messages/a").DELETE());
    assertThat(answer.statusCode()).isEqualTo(405);
    assertThat(answer.headers().firstValue("Allow")).contains("GET, POST, PUT");
  }

  @Test
  void manyCallsOfOneReferenceAtOnceDeliverOnce() throws Exception {
    int calls = 200;
    List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
    for (int i = 0; i < calls; i++) {
      answers.add(caller.callAsync("a"));
    }
    List<Integer> statuses = new ArrayList<>();
    for (CompletableFuture<HttpResponse<String>> answer : answers) {
      statuses.add(answer.get(60, TimeUnit.SECONDS).statusCode());
    }
    assertThat(statuses).containsOnlyOnce(202).contains(200);
    assertCounts("a", calls, 1, calls - 1);
  }

  @Test
  void callsThatHangAndBodiesThatNobodyReadsKeepNoOtherFromItsAnswer() throws Exception {
    List<CompletableFuture<HttpResponse<String>>> hanging = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      caller.calls("h" + i, "hang");
      hanging.add(caller.callAsync("h" + i));
    }
    for (int i = 0; i < 8; i++) {
      caller.calls("e" + i, "huge");
      assertThat(caller.open("e" + i).statusCode()).isEqualTo(200);
    }
    assertThat(caller.call("a").statusCode()).isEqualTo(202);
    assertThat(hanging.getFirst()).isNotDone();
  }

  @Test
  void whatHangsIsClosedWhenTheStubStops() throws Exception {
    caller.calls("a", "hang");
    CompletableFuture<HttpResponse<String>> hanging = caller.callAsync("a");
    awaitCounts("a", 1, 0, 0);
    stub.close();
    assertThatThrownBy(() -> hanging.get(60, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(IOException.class);
  }

  @Test
  void oneHangTooManyClosesTheOldest() throws Exception {
    Hangs hangs = new Hangs(1);
    FakeExchange first = new FakeExchange();
    FakeExchange second = new FakeExchange();
    hangs.add(first);
    assertThat(first.closed).isFalse();
    hangs.add(second);
    assertThat(first.closed).isTrue();
    assertThat(second.closed).isFalse();
  }

  private void assertHangs(String reference) {
    assertThatThrownBy(() -> caller.callFor(SOON, reference))
        .isInstanceOf(HttpTimeoutException.class);
  }

  private void assertDrops(String reference) {
    assertThatThrownBy(() -> caller.call(reference))
        .isInstanceOf(IOException.class)
        .isNotInstanceOf(HttpTimeoutException.class);
  }

  private void assertCounts(String reference, int calls, int delivered, int replayed)
      throws Exception {
    assertThat(caller.counts(reference)).contains(counted(calls, delivered, replayed));
  }

  private void awaitCounts(String reference, int calls, int delivered, int replayed)
      throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!hasCounts(caller.counts(reference), calls, delivered, replayed)) {
      assertThat(System.nanoTime()).as("it arrives").isLessThan(end);
    }
  }

  private static boolean hasCounts(String counts, int calls, int delivered, int replayed) {
    for (String part : counted(calls, delivered, replayed)) {
      if (!counts.contains(part)) {
        return false;
      }
    }
    return true;
  }

  private static String[] counted(int calls, int delivered, int replayed) {
    return new String[] {
      "\"calls\":" + calls + ",", "\"delivered\":" + delivered + ",\"replayed\":" + replayed + ","
    };
  }

  private List<Integer> statuses(String reference, int calls) throws Exception {
    List<Integer> statuses = new ArrayList<>();
    for (int i = 0; i < calls; i++) {
      statuses.add(caller.call(reference).statusCode());
    }
    return statuses;
  }

  private HttpRequest.Builder post(String path) {
    return caller.request(path).POST(BodyPublishers.ofString(Caller.BODY));
  }

  private static String messageId(HttpResponse<String> answer) {
    return answer.headers().firstValue("X-Message-Id").orElseThrow();
  }
}
