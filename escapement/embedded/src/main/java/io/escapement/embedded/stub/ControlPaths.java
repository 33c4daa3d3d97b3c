package io.escapement.embedded.stub;

import com.fasterxml.jackson.core.JsonGenerator;
import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;

/** {@code /stub}: what tests ask of the stub itself. Thread rule: any thread. */
final class ControlPaths {

  static final String PATH = "/stub";

  private static final String SCRIPTS = PATH + "/scripts";
  private static final String DEFAULT = PATH + "/default";
  private static final String COUNTS = PATH + "/counts";
  private static final String FORGET = PATH + "/forget";

  private final References references;
  private final MessagePaths messages;
  private final Hangs hangs;

  ControlPaths(References references, MessagePaths messages, Hangs hangs) {
    this.references = references;
    this.messages = messages;
    this.hangs = hangs;
  }

  void handle(HttpExchange exchange) throws IOException {
    byte[] body = Body.read(exchange.getRequestBody());
    String method = exchange.getRequestMethod();
    String path = exchange.getRequestURI().getRawPath();
    if (method.equals("PUT") && Paths.isUnder(exchange, SCRIPTS)) {
      String name = Paths.behind(exchange, SCRIPTS);
      references.script(
          name.isEmpty()
              ? Script.readAll(body)
              : Map.of(References.checked(name), Script.read(body)));
      Answers.done(exchange);
    } else if (method.equals("PUT") && path.equals(DEFAULT)) {
      references.defaultScript(Script.read(body));
      Answers.done(exchange);
    } else if (method.equals("GET") && Paths.isUnder(exchange, COUNTS)) {
      counts(exchange, Paths.behind(exchange, COUNTS));
    } else if (method.equals("POST") && path.equals(FORGET)) {
      references.forget();
      Answers.done(exchange);
    } else if (method.equals("DELETE") && path.equals(PATH)) {
      references.reset();
      messages.reset();
      hangs.closeAll();
      Answers.done(exchange);
    } else {
      throw new RequestException(
          404,
          "there are PUT /stub/scripts, PUT /stub/scripts/{reference}, PUT /stub/default, GET"
              + " /stub/counts, GET /stub/counts/{reference}, POST /stub/forget and DELETE /stub");
    }
  }

  private void counts(HttpExchange exchange, String name) throws IOException {
    if (name.isEmpty()) {
      Answers.jsonStream(exchange, this::writeAll);
    } else {
      StubCounts counts = references.counts(References.checked(name));
      Answers.jsonStream(exchange, json -> write(json, counts));
    }
  }

  /** The totals stand last, as they are summed up on the way: they fit what stands before. */
  private void writeAll(JsonGenerator json) throws IOException {
    Totals totals = new Totals();
    json.writeStartObject();
    json.writeObjectFieldStart("references");
    try {
      references.forEach(
          (name, counts) -> {
            totals.add(counts);
            try {
              json.writeFieldName(name);
              write(json, counts);
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          });
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
    json.writeEndObject();
    json.writeObjectFieldStart("totals");
    json.writeNumberField("references", totals.references);
    json.writeNumberField("calls", totals.calls);
    json.writeNumberField("queries", totals.queries);
    json.writeNumberField("delivered", totals.delivered);
    json.writeNumberField("replayed", totals.replayed);
    json.writeNumberField("unauthorized", messages.unauthorized());
    json.writeEndObject();
    json.writeEndObject();
  }

  private static void write(JsonGenerator json, StubCounts counts) throws IOException {
    json.writeStartObject();
    json.writeNumberField("calls", counts.calls());
    json.writeNumberField("queries", counts.queries());
    json.writeNumberField("delivered", counts.delivered());
    json.writeNumberField("replayed", counts.replayed());
    json.writeStringField("bodySha256", counts.bodySha256());
    json.writeEndObject();
  }

  private static final class Totals {
    private long references;
    private long calls;
    private long queries;
    private long delivered;
    private long replayed;

    void add(StubCounts counts) {
      references++;
      calls += counts.calls();
      queries += counts.queries();
      delivered += counts.delivered();
      replayed += counts.replayed();
    }
  }
}
