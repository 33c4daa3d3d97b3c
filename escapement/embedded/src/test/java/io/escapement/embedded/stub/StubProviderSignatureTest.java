package io.escapement.embedded.stub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import javax.crypto.Mac;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class StubProviderSignatureTest {

  private static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

  private final String now = Long.toString(Instant.now().getEpochSecond());
  private StubProvider stub;
  private Caller caller;

  @BeforeEach
  void start() {
    stub = StubProvider.start(new StubProvider.Config("127.0.0.1", 0, SECRET));
    caller = new Caller(stub.url());
  }

  @AfterEach
  void stop() {
    caller.close();
    stub.close();
  }

  /** The example of the Standard Webhooks libraries: it ties this to others' reckoning. */
  @Test
  void aSignatureIsReckonedAsOthersReckonIt() {
    Mac mac = Signature.of(SECRET).begin("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330");
    mac.update("{\"test\": 2432232314}".getBytes(StandardCharsets.UTF_8));
    assertThat(Base64.getEncoder().encodeToString(mac.doFinal()))
        .isEqualTo("g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  }

  @Test
  void aSignedCallIsAcceptedUnderItsWebhookId() throws Exception {
    assertThat(call("a", now, sign("a", now, "body"), "body").statusCode()).isEqualTo(202);
    assertThat(caller.counts("a")).contains("\"delivered\":1");
  }

  @Test
  void oneOfSeveralSignaturesSuffices() throws Exception {
    String signatures = "v1a,other v1,AAAA v1,??? " + sign("a", now, "body");
    assertThat(call("a", now, signatures, "body").statusCode()).isEqualTo(202);
  }

  @Test
  void whatDoesNotMatchIs401AndCountedOnlyInTheTotals() throws Exception {
    String good = sign("a", now, "body");
    assertThat(call("a", now, good, "other").statusCode()).isEqualTo(401);
    assertThat(call("b", now, good, "body").statusCode()).isEqualTo(401);
    assertThat(call("a", Long.toString(Long.parseLong(now) + 1), good, "body").statusCode())
        .isEqualTo(401);
    assertThat(caller.call("a").body()).startsWith("not signed: ");
    assertThat(caller.counts("a")).contains("\"calls\":0");
    assertThat(caller.send(caller.request("/stub/counts").GET()).body())
        .contains("\"references\":0", "\"unauthorized\":4");
  }

  @Test
  void aTimestampFarFromNowOrNoneIs401() throws Exception {
    for (String timestamp :
        new String[] {
          Long.toString(Long.parseLong(now) - 400),
          Long.toString(Long.parseLong(now) + 400),
          Long.toString(Long.MIN_VALUE),
          "yesterday"
        }) {
      HttpResponse<String> answer = call("a", timestamp, sign("a", timestamp, "body"), "body");
      assertThat(answer.statusCode()).as(timestamp).isEqualTo(401);
      assertThat(answer.body()).contains("webhook-timestamp");
    }
  }

  @Test
  void queriesNeedNoSignature() throws Exception {
    assertThat(caller.query("a").statusCode()).isEqualTo(404);
  }

  @Test
  void aSecretThatIsNoneIsRefusedAndNotTold() {
    for (String secret : new String[] {"", "whsec_", "whsec_?secret?", "c2VjcmV0"}) {
      assertThatThrownBy(() -> StubProvider.start(new StubProvider.Config("127.0.0.1", 0, secret)))
          .isInstanceOf(StubStartException.class)
          .hasMessage(
              "--signing-secret is no secret of Standard Webhooks; write whsec_ and base64");
    }
    assertThat(new StubProvider.Config("h", 1, SECRET).toString()).doesNotContain("whsec_");
  }

  private static String sign(String id, String timestamp, String body) {
    Mac mac = Signature.of(SECRET).begin(id, timestamp);
    return "v1,"
        + Base64.getEncoder().encodeToString(mac.doFinal(body.getBytes(StandardCharsets.UTF_8)));
  }

  private HttpResponse<String> call(String id, String timestamp, String signature, String body)
      throws Exception {
    return caller.send(
        caller
            .request("/messages")
            .header("webhook-id", id)
            .header("webhook-timestamp", timestamp)
            .header("webhook-signature", signature)
            .POST(BodyPublishers.ofString(body)));
  }
}
