package io.escapement.embedded.stub;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import io.escapement.embedded.stub.Reference.Found;
import io.escapement.embedded.stub.Reference.Verdict;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import javax.crypto.Mac;
import org.jspecify.annotations.Nullable;

/**
 * {@code /messages}: calls and queries, each as its script says.
 *
 * <p>Ordering: what a call does is decided when its whole body has arrived. Thread rule: any
 * thread; a delay keeps the thread that handles the exchange, endless bodies have threads of their
 * own, and what hangs has none.
 */
final class MessagePaths implements AutoCloseable {

  static final String PATH = "/messages";

  /** Where a redirect leads: a caller that follows it is counted as calling, or asking, again. */
  static final String REDIRECTED = PATH + "/redirected";

  /** What names the reference, the first that is there. */
  private static final List<String> REFERENCE_HEADERS =
      List.of("Idempotency-Key", "X-Reference", "webhook-id");

  private static final int ENDLESS_AT_MOST = 64;
  private static final int BLOCK_BYTES = 65_536;

  private final References references;
  private final Hangs hangs;
  private final @Nullable Signature signature;
  private final String run = HexFormat.of().toHexDigits(new Random().nextInt());
  private final AtomicLong messages = new AtomicLong(Reference.NONE);
  private final AtomicLong unauthorized = new AtomicLong();
  // Their writes block; on a Java before 24 that would hold the few threads that virtual ones
  // share.
  private final ExecutorService endless =
      Executors.newFixedThreadPool(
          ENDLESS_AT_MOST, Thread.ofPlatform().daemon().name("stub-endless-", 0).factory());

  MessagePaths(References references, Hangs hangs, @Nullable Signature signature) {
    this.references = references;
    this.hangs = hangs;
    this.signature = signature;
  }

  /** Calls whose signature did not hold. They are counted nowhere else. */
  long unauthorized() {
    return unauthorized.get();
  }

  /** Forgets the count. */
  void reset() {
    unauthorized.set(0);
  }

  void handle(HttpExchange exchange) throws IOException {
    switch (exchange.getRequestMethod()) {
      case "POST", "PUT" -> call(exchange);
      case "GET" -> query(exchange);
      default -> {
        exchange.getResponseHeaders().set("Allow", "GET, POST, PUT");
        throw new RequestException(405, "POST or PUT is a call, GET a query");
      }
    }
  }

  @Override
  public void close() {
    endless.shutdownNow();
  }

  private void call(HttpExchange exchange) throws IOException {
    byte[] sha256 = readSigned(exchange);
    boolean dedupe = dedupe(exchange.getRequestURI().getQuery());
    Reference reference = references.of(referenceOf(exchange.getRequestHeaders()));
    answer(exchange, reference.call(sha256, dedupe, messages::incrementAndGet));
  }

  private byte[] readSigned(HttpExchange exchange) throws IOException {
    if (signature == null) {
      return Body.digest(exchange.getRequestBody(), (bytes, length) -> {});
    }
    Headers headers = exchange.getRequestHeaders();
    String id = headers.getFirst("webhook-id");
    String timestamp = headers.getFirst("webhook-timestamp");
    Mac mac = signature.begin(id, timestamp);
    byte[] sha256 =
        Body.digest(exchange.getRequestBody(), (bytes, length) -> mac.update(bytes, 0, length));
    try {
      signature.require(mac, id, timestamp, headers.getFirst("webhook-signature"));
    } catch (RequestException e) {
      unauthorized.incrementAndGet();
      throw e;
    }
    return sha256;
  }

  private static String referenceOf(Headers headers) {
    return REFERENCE_HEADERS.stream()
        .map(headers::getFirst)
        .filter(Objects::nonNull)
        .findFirst()
        .map(References::checked)
        .orElseThrow(
            () ->
                new RequestException(
                    400,
                    "a call needs one of the headers " + String.join(", ", REFERENCE_HEADERS)));
  }

  /** Whether a remembered key counts: it does unless the address says {@code ?dedupe=false}. */
  private static boolean dedupe(@Nullable String query) {
    String[] parameters = query == null ? new String[0] : query.split("&", -1);
    boolean dedupe = true;
    for (String parameter : parameters) {
      if (parameter.startsWith("dedupe=")) {
        dedupe =
            switch (parameter) {
              case "dedupe=true" -> true;
              case "dedupe=false" -> false;
              default -> throw new RequestException(400, "dedupe is true or false");
            };
      }
    }
    return dedupe;
  }

  private void answer(HttpExchange exchange, Verdict verdict) throws IOException {
    int argument = verdict.step().argument();
    switch (verdict.step().word()) {
      case ACCEPT, FORGET -> accepted(exchange, verdict);
      case ACCEPT_DELAY -> {
        pause(Duration.ofMillis(argument));
        accepted(exchange, verdict);
      }
      case ACCEPT_HANG, HANG -> hangs.add(exchange);
      case ACCEPT_DROP, DROP -> exchange.close();
      case ACCEPT_STATUS -> {
        tellMessage(exchange, verdict.message(), verdict.replayed());
        status(exchange, argument);
      }
      case HUGE -> {
        tellMessage(exchange, verdict.message(), verdict.replayed());
        endless.execute(() -> writeWithoutEnd(exchange, json(verdict.message())));
      }
      case REFUSE -> {
        if (argument != Argument.ABSENT) {
          exchange.getResponseHeaders().set("Retry-After", Integer.toString(argument));
        }
        Answers.line(exchange, 503, "refused: not accepted, may be tried again");
      }
      case REJECT -> Answers.line(exchange, 400, "rejected: not accepted, never will be");
      case STATUS -> status(exchange, argument);
    }
  }

  private void query(HttpExchange exchange) throws IOException {
    String name = References.checked(Paths.behind(exchange, PATH));
    Found found = references.of(name).query();
    switch (found.step().word()) {
      case FIND -> {
        if (found.message() == Reference.NONE) {
          notFound(exchange);
        } else {
          tellMessage(exchange, found.message(), false);
          Answers.json(exchange, 200, json(found.message()));
        }
      }
      case NOT_FOUND -> notFound(exchange);
      case FAIL -> Answers.line(exchange, 500, "failed: neither found nor not found");
      case HANG -> hangs.add(exchange);
      case DROP -> exchange.close();
      case STATUS -> status(exchange, found.step().argument());
    }
  }

  private void accepted(HttpExchange exchange, Verdict verdict) throws IOException {
    tellMessage(exchange, verdict.message(), verdict.replayed());
    Answers.json(exchange, verdict.replayed() ? 200 : 202, json(verdict.message()));
  }

  private static void notFound(HttpExchange exchange) throws IOException {
    Answers.line(exchange, 404, "nothing was accepted under this reference");
  }

  private static void status(HttpExchange exchange, int status) throws IOException {
    if (status / 100 == 3) {
      exchange.getResponseHeaders().set("Location", REDIRECTED);
    }
    Answers.line(exchange, status, "status " + status + ", as the script says");
  }

  private void tellMessage(HttpExchange exchange, long message, boolean replayed) {
    exchange.getResponseHeaders().set("X-Message-Id", idOf(message));
    if (replayed) {
      exchange.getResponseHeaders().set("X-Replayed", "true");
    }
  }

  private String json(long message) {
    return "{\"id\":\"" + idOf(message) + "\"}";
  }

  /** Unlike the ids of any other run; nothing in it needs escaping. */
  private String idOf(long message) {
    return "msg-" + run + "-" + message;
  }

  private static void pause(Duration time) throws IOException {
    try {
      Thread.sleep(time);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("the stub stops", e);
    }
  }

  /** Ends when the caller goes away, or the stub stops: then a write fails. */
  private static void writeWithoutEnd(HttpExchange exchange, String start) {
    byte[] block = new byte[BLOCK_BYTES];
    Arrays.fill(block, (byte) ' ');
    try {
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, 0);
      OutputStream body = exchange.getResponseBody();
      body.write(start.getBytes(StandardCharsets.UTF_8));
      while (!Thread.currentThread().isInterrupted()) {
        body.write(block);
      }
    } catch (IOException gone) {
      // As it was meant to end.
    } finally {
      exchange.close();
    }
  }
}
