package io.escapement.embedded.stub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.Collections;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Scripts, counts and bounds. */
class StubProviderControlTest {

  /** Of the body that {@link Caller} sends: printf '{"to":"someone"}' | sha256sum. */
  private static final String SHA_256 =
      "9e875ffa784bedab23fe7f63648c12ba42148a054a6c31dec2d8810a2d72bca9";

  private static final int MAX_REFERENCES = 5;

  private StubProvider stub;
  private Caller caller;

  @BeforeEach
  void start() {
    stub = StubProvider.start(StubProvider.Config.ephemeral(), MAX_REFERENCES);
    caller = new Caller(stub.url());
  }

  @AfterEach
  void stop() {
    caller.close();
    stub.close();
  }

  @Test
  void theCountsOfAReferenceBeginWithTheFirstBodysHash() throws Exception {
    assertThat(caller.counts("a"))
        .isEqualTo(
            "{\"calls\":0,\"queries\":0,\"delivered\":0,\"replayed\":0,\"bodySha256\":null}");
    caller.call("a");
    caller.send(
        caller.request("/messages").header("X-Reference", "a").POST(BodyPublishers.ofString("x")));
    caller.query("a");
    assertThat(caller.counts("a"))
        .isEqualTo(
            "{\"calls\":2,\"queries\":1,\"delivered\":1,\"replayed\":1,\"bodySha256\":\""
                + SHA_256
                + "\"}");
  }

  @Test
  void theTotalsAreTheSumsOverAllReferences() throws Exception {
    caller.call("a");
    caller.call("a");
    caller.callBlind("b");
    caller.query("c");
    assertThat(get("/stub/counts").body())
        .contains("\"a\":{\"calls\":2", "\"b\":{", "\"c\":{")
        .endsWith(
            "\"totals\":{\"references\":3,\"calls\":3,\"queries\":1,\"delivered\":2,\"replayed\":1,"
                + "\"unauthorized\":0}}");
  }

  @Test
  void referencesMayHoldWhatAPathMustEscape() throws Exception {
    caller.calls("a%2Fb%20c+d%C3%A9", "reject");
    assertThat(
            caller
                .send(
                    caller
                        .request("/messages")
                        .header("Idempotency-Key", "a/b c+d\u00e9")
                        .POST(BodyPublishers.noBody()))
                .statusCode())
        .isIn(400, 202);
    assertThat(get("/stub/counts").body()).contains("\"a/b c+d\u00e9\":{");
  }

  @Test
  void aScriptSetAgainBeginsAnewAndKeepsTheCounts() throws Exception {
    caller.calls("a", "refuse", "refuse");
    caller.call("a");
    caller.calls("a", "reject");
    assertThat(caller.call("a").statusCode()).isEqualTo(400);
    assertThat(caller.call("a").statusCode()).isEqualTo(202);
    assertThat(caller.counts("a")).contains("\"calls\":3");
  }

  @Test
  void manyScriptsAreSetAtOnce() throws Exception {
    assertThat(
            caller
                .put(
                    "/stub/scripts",
                    "{\"a\":{\"calls\":[\"refuse\"]},\"b\":{\"queries\":[\"fail\"]},\"c\":{}}")
                .statusCode())
        .isEqualTo(204);
    assertThat(caller.call("a").statusCode()).isEqualTo(503);
    assertThat(caller.query("b").statusCode()).isEqualTo(500);
    assertThat(caller.call("c").statusCode()).isEqualTo(202);
  }

  @Test
  void oneBadScriptOfManyIsNamedAndNoneIsSet() throws Exception {
    HttpResponse<String> answer =
        caller.put(
            "/stub/scripts", "{\"a\":{\"calls\":[\"refuse\"]},\"b\":{\"calls\":[\"refuze\"]}}");
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body())
        .startsWith("reference b: there is no call step 'refuze'; there are: ");
    assertThat(caller.call("a").statusCode()).isEqualTo(202);
  }

  @Test
  void everyReferenceWithoutAScriptGetsItsOwnCopyOfTheDefault() throws Exception {
    caller.calls("c", "reject");
    assertThat(caller.put("/stub/default", "{\"calls\":[\"refuse\"]}").statusCode()).isEqualTo(204);
    assertThat(caller.call("a").statusCode()).isEqualTo(503);
    assertThat(caller.call("b").statusCode()).isEqualTo(503);
    assertThat(caller.call("a").statusCode()).isEqualTo(202);
    assertThat(caller.call("c").statusCode()).isEqualTo(400);
  }

  @Test
  void forgettingTheKeysKeepsTheCountsAndWhatWasDelivered() throws Exception {
    caller.call("a");
    post("/stub/forget");
    assertThat(caller.query("a").statusCode()).isEqualTo(200);
    assertThat(caller.call("a").statusCode()).isEqualTo(202);
    assertThat(caller.counts("a")).contains("\"calls\":2", "\"delivered\":2,\"replayed\":0");
  }

  @Test
  void aResetForgetsEverythingAndClosesWhatHangs() throws Exception {
    caller.put("/stub/default", "{\"calls\":[\"accept-hang\"]}");
    CompletableFuture<HttpResponse<String>> hanging = caller.callAsync("a");
    while (!caller.counts("a").contains("\"calls\":1")) {
      Thread.onSpinWait();
    }
    // It may be counted a moment before it hangs.
    while (!hanging.isDone()) {
      assertThat(caller.send(caller.request("/stub").DELETE()).statusCode()).isEqualTo(204);
    }
    assertThatThrownBy(() -> hanging.get(60, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(IOException.class);
    assertThat(get("/stub/counts").body()).startsWith("{\"references\":{},");
    assertThat(caller.call("a").statusCode()).isEqualTo(202);
  }

  @Test
  void aBadScriptIsOneLineThatNamesTheStepAndAllThatThereAre() throws Exception {
    assertRefused(
        "{\"calls\":[\"accept\",\"acept\"]}",
        "there is no call step 'acept'; there are: accept, accept-delay:<millis 0-600000>,"
            + " accept-hang, accept-drop, accept-status:<code 200-599>, forget, huge, hang, drop,"
            + " refuse, refuse:<seconds 0-86400>, reject, status:<code 200-599>");
    assertRefused(
        "{\"queries\":[\"accept\"]}",
        "there is no query step 'accept'; there are: find, not-found, fail, hang, drop,"
            + " status:<code 200-599>");
    for (String step :
        new String[] {
          "status",
          "status:",
          "status:99",
          "status:600",
          "status:x",
          "accept:1",
          "refuse:-1",
          "accept-delay",
          "accept-delay:600001",
          "refuse:",
          "",
          "a\\nb"
        }) {
      assertRefused(
          "{\"calls\":[\"" + step + "\"]}",
          "there is no call step '" + step.replace("\\n", "?") + "'");
    }
    assertRefused("{\"calls\":[7]}", "there is no call step '7'");
    assertRefused("{\"calls\":\"accept\"}", "the call steps are a list of at most 1000 strings");
    assertRefused(
        "{\"calls\":[" + String.join(",", Collections.nCopies(1_001, "\"accept\"")) + "]}",
        "the call steps are a list of at most 1000 strings");
    assertRefused("{\"call\":[]}", "a script has no 'call'; it is written {\"calls\":");
    assertRefused("[]", "a script is an object: {\"calls\":");
    assertRefused("", "a script is an object: ");
    assertRefused("{\"calls\":[],\"calls\":[]}", "not JSON: Duplicate field 'calls'");
    assertRefused("{\"calls\":[\n", "not JSON: ");
    assertThat(caller.counts("a")).contains("\"calls\":0");
  }

  @Test
  void oneReferenceTooManyIsAnsweredBy507UntilAReset() throws Exception {
    for (int i = 0; i < MAX_REFERENCES; i++) {
      assertThat(caller.call("r" + i).statusCode()).isEqualTo(202);
    }
    HttpResponse<String> answer = caller.call("more");
    assertThat(answer.statusCode()).isEqualTo(507);
    assertThat(answer.body()).contains("there are 5 references already");
    assertThat(caller.query("more").statusCode()).isEqualTo(507);
    assertThat(caller.put("/stub/scripts/more", "{}").statusCode()).isEqualTo(507);
    assertThat(caller.call("r0").statusCode()).isEqualTo(200);
    caller.send(caller.request("/stub").DELETE());
    assertThat(caller.call("more").statusCode()).isEqualTo(202);
  }

  @Test
  void aBodyOrAReferenceThatIsTooLongIsRefusedAndNotCounted() throws Exception {
    assertThat(sendBody(10_000_001).statusCode()).isEqualTo(413);
    assertThat(caller.counts("big")).contains("\"calls\":0");
    assertThat(sendBody(10_000_000).statusCode()).isEqualTo(202);
    assertThat(caller.call("x".repeat(513)).statusCode()).isEqualTo(400);
    assertThat(caller.call("x".repeat(512)).statusCode()).isEqualTo(202);
  }

  @Test
  void otherPathsAreToldWhatThereIs() throws Exception {
    assertThat(get("/").body()).isEqualTo("there are /messages and /stub\n");
    assertThat(get("/messagesx").statusCode()).isEqualTo(404);
    assertThat(get("/stub/nothing").body()).contains("PUT /stub/scripts/{reference}");
  }

  private void assertRefused(String script, String line) throws Exception {
    HttpResponse<String> answer = caller.put("/stub/scripts/a", script);
    assertThat(answer.statusCode()).as(script).isEqualTo(400);
    assertThat(answer.body()).startsWith(line).hasLineCount(1);
  }

  private HttpResponse<String> sendBody(int bytes) throws Exception {
    return caller.send(
        caller
            .request("/messages")
            .header("Idempotency-Key", "big")
            .POST(BodyPublishers.ofByteArray(new byte[bytes])));
  }

  private HttpResponse<String> get(String path) throws Exception {
    return caller.send(caller.request(path).GET());
  }

  private HttpResponse<String> post(String path) throws Exception {
    return caller.send(caller.request(path).POST(BodyPublishers.noBody()));
  }
}
