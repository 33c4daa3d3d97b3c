package io.escapement.dispatcher.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.escapement.dispatcher.Call;
import io.escapement.dispatcher.QueryResult;
import io.escapement.dispatcher.SendResult;
import io.escapement.dispatcher.Task;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What goes over the wire, and what its answers are taken for. */
class HttpChannelTest {

  private record Seen(String method, String uri, Headers headers, String body) {}

  private static final String SECRET = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

  @TempDir Path directory;
  private final List<Seen> seen = new CopyOnWriteArrayList<>();
  private final List<String> answerHeaders = new ArrayList<>();
  private volatile int status = 202;
  private HttpServer server;
  private String base;

  @BeforeEach
  void open() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::answer);
    server.start();
    base = "http://127.0.0.1:" + server.getAddress().getPort();
  }

  @AfterEach
  void close() {
    server.stop(0);
  }

  private void answer(HttpExchange exchange) throws IOException {
    seen.add(
        new Seen(
            exchange.getRequestMethod(),
            exchange.getRequestURI().toString(),
            exchange.getRequestHeaders(),
            new String(exchange.getRequestBody().readAllBytes(), UTF_8)));
    for (int i = 0; i < answerHeaders.size(); i += 2) {
      exchange.getResponseHeaders().add(answerHeaders.get(i), answerHeaders.get(i + 1));
    }
    byte[] body = "because".getBytes(UTF_8);
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  @Test
  void theRequestCarriesWhatTheFileSaysAndTheEventsData() throws Exception {
    HttpChannel channel =
        channel(
            "url = "
                + base
                + "/to/{address}?k={key}\nheader.X-For = {subject}\nsigning-secret = "
                + SECRET);
    assertThat(channel.send(call("a b/&ä", "{\"x\":1}"))).isInstanceOf(SendResult.Accepted.class);
    Seen one = seen.get(0);
    assertThat(one.method()).isEqualTo("POST");
    assertThat(one.uri()).isEqualTo("/to/a%20b%2F%26%C3%A4?k=ledger-7");
    assertThat(one.body()).isEqualTo("{\"x\":1}");
    assertThat(one.headers().getFirst("Content-Type")).isEqualTo("application/json");
    assertThat(one.headers().getFirst("Idempotency-Key")).isEqualTo("ledger-7");
    assertThat(one.headers().getFirst("X-For")).isEqualTo("anna%0D%0Aand %E6%97%A5");
    assertThat(one.headers().getFirst("webhook-id")).isEqualTo("ledger-7");
    assertThat(one.headers().getFirst("webhook-timestamp")).isEqualTo("1700000000");
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(Base64.getDecoder().decode(SECRET), "HmacSHA256"));
    assertThat(one.headers().getFirst("webhook-signature"))
        .isEqualTo(
            "v1,"
                + Base64.getEncoder()
                    .encodeToString(mac.doFinal("ledger-7.1700000000.{\"x\":1}".getBytes(UTF_8))));
  }

  @Test
  void anAnswerMeansWhatTheFileSaysAndNothingElse() throws Exception {
    HttpChannel channel =
        channel(
            "url = "
                + base
                + "\nreplay = 208\nrefused = 503,403\nrejected = 400\nmessage-id-header = X-Id\n");
    answerHeaders.addAll(List.of("X-Id", "m1", "Retry-After", "7", "Location", base + "/other"));
    assertThat(sent(channel, 202)).isEqualTo(new SendResult.Accepted("m1"));
    assertThat(sent(channel, 208)).isEqualTo(new SendResult.Replayed("m1"));
    assertThat(sent(channel, 503))
        .isEqualTo(new SendResult.Refused("HTTP 503: because", Duration.ofSeconds(7)));
    assertThat(sent(channel, 400)).isEqualTo(new SendResult.Rejected("HTTP 400: because"));
    assertThat(sent(channel, 401))
        .isEqualTo(new SendResult.Unauthorized("HTTP 401: because", false, Duration.ofSeconds(7)));
    assertThat(sent(channel, 403))
        .isEqualTo(new SendResult.Unauthorized("HTTP 403: because", true, Duration.ofSeconds(7)));
    for (int unlisted : List.of(302, 404, 429, 500, 502)) {
      assertThat(sent(channel, unlisted))
          .isEqualTo(new SendResult.Unclear("HTTP " + unlisted + ": because"));
    }
    assertThat(seen).as("no redirect was followed, nothing was sent twice").hasSize(11);
  }

  @Test
  void aQuestionsAnswerMeansWhatTheFileSays() throws Exception {
    HttpChannel channel =
        channel(
            "url = "
                + base
                + "\nquery.url = "
                + base
                + "/q/{key}\nquery.not-found = 404\nmessage-id-header = X-Id");
    assertThat(channel.canQuery()).isTrue();
    answerHeaders.addAll(List.of("X-Id", "m1"));
    assertThat(asked(channel, 200)).isEqualTo(new QueryResult.Found("m1"));
    assertThat(asked(channel, 404)).isEqualTo(new QueryResult.NotFound());
    assertThat(asked(channel, 500)).isEqualTo(new QueryResult.Failed("HTTP 500: because"));
    assertThat(asked(channel, 204)).isEqualTo(new QueryResult.Failed("HTTP 204"));
    assertThat(seen).allMatch(one -> one.method().equals("GET") && one.uri().equals("/q/ledger-7"));
  }

  @Test
  void addressesOutOfPreferencesReachOnlyWhatIsPublic() throws Exception {
    HttpChannel guarded = channel("url = {address}");
    for (String address :
        List.of(base, "http://localhost:" + server.getAddress().getPort(), "http://[::1]/")) {
      assertThat(guarded.send(call(address, "x")))
          .isInstanceOfSatisfying(
              SendResult.Rejected.class, no -> assertThat(no.why()).contains("not public"));
    }
    for (String address : List.of("", "mailto:a@b", "http://u:p@1.1.1.1/", "http:///x", "a b")) {
      assertThat(guarded.send(call(address, "x")))
          .as(address)
          .isInstanceOf(SendResult.Rejected.class);
    }
    assertThat(seen).isEmpty();
    HttpChannel open = channel("url = {address}\nallow-private = true");
    assertThat(open.send(call(base + "/hook", "x"))).isInstanceOf(SendResult.Accepted.class);
    assertThat(open.destination(call(base + "/hook", "x"))).isEqualTo(base);
  }

  @Test
  void aPartOfTheUrlThatWouldMakeItAnotherIsNotSent() throws Exception {
    HttpChannel channel = channel("url = " + base + "/to/{address}/x");
    for (String address : List.of("", ".", "..")) {
      assertThat(channel.send(call(address, "x"))).isInstanceOf(SendResult.Rejected.class);
    }
    HttpChannel asked = channel("url = " + base + "\nquery.url = {address}\nquery.not-found = 404");
    assertThat(asked.query(call(base, "x"))).isInstanceOf(QueryResult.Failed.class);
    assertThat(seen).isEmpty();
  }

  /** Each client has a thread of its own. */
  @Test
  void allCallsOfAChannelShareOneClient() throws Exception {
    long before = clients();
    HttpChannel channel = channel("url = " + base + "\nconnect-timeout-ms = 60000");
    for (int i = 0; i < 20; i++) {
      assertThat(channel.send(call(null, "x"))).isInstanceOf(SendResult.Accepted.class);
    }
    assertThat(clients() - before).isEqualTo(1);
    channel.close();
  }

  private static long clients() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().matches("HttpClient-\\d+-SelectorManager"))
        .count();
  }

  @Test
  void whatNeverHadAConnectionWasSurelyNotAccepted() throws Exception {
    server.stop(0);
    assertThat(channel("url = " + base).send(call(null, "x")))
        .isInstanceOf(SendResult.Refused.class);
    assertThat(channel("url = http://no-such-host.invalid/").send(call(null, "x")))
        .isInstanceOf(SendResult.Refused.class);
  }

  @Test
  void aServerThatSpeaksNoTlsNeverGotTheRequest() throws Exception {
    assertThat(channel("url = " + base.replace("http:", "https:")).send(call(null, "x")))
        .isInstanceOfAny(SendResult.Refused.class, SendResult.IoError.class);
    assertThat(seen).isEmpty();
  }

  private SendResult sent(HttpChannel channel, int answer) throws InterruptedException {
    status = answer;
    return channel.send(call(null, "x"));
  }

  private QueryResult asked(HttpChannel channel, int answer) throws InterruptedException {
    status = answer;
    return channel.query(call(null, "x"));
  }

  private HttpChannel channel(String file) {
    try {
      Path its = Files.createTempDirectory(directory, "channels");
      Files.writeString(its.resolve("test.properties"), file);
      return new HttpChannel(HttpChannelFiles.read(its, name -> null).get(0));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Call call(@Nullable String address, String value) {
    Task task =
        new Task(
            7,
            1,
            2,
            "acme",
            "kind",
            "/source",
            "id",
            "anna\r\nand 日",
            Instant.EPOCH,
            Instant.ofEpochSecond(1_700_000_000),
            "ledger-7",
            "application/json",
            value.getBytes(UTF_8));
    return new Call(task, address, false, Duration.ofSeconds(20));
  }
}
