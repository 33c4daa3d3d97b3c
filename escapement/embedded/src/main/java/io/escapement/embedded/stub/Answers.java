package io.escapement.embedded.stub;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** Writes answers, whole ones. */
final class Answers {

  static final JsonFactory JSON = new JsonFactory();

  private static final int NO_BODY = -1;
  private static final int STREAMED = 0;

  private Answers() {}

  /** One line for a person. */
  static void line(HttpExchange exchange, int status, String line) throws IOException {
    whole(exchange, status, "text/plain; charset=utf-8", line + "\n");
  }

  static void json(HttpExchange exchange, int status, String json) throws IOException {
    whole(exchange, status, "application/json", json);
  }

  /** Done, and nothing to say. */
  static void done(HttpExchange exchange) throws IOException {
    exchange.sendResponseHeaders(204, NO_BODY);
    exchange.close();
  }

  /** JSON of any length. */
  static void jsonStream(HttpExchange exchange, JsonWriter writer) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, STREAMED);
    try (OutputStream body = exchange.getResponseBody();
        JsonGenerator json = JSON.createGenerator(body)) {
      writer.write(json);
    }
    exchange.close();
  }

  private static void whole(HttpExchange exchange, int status, String type, String text)
      throws IOException {
    // The protocol allows these none.
    if (status == 204 || status == 304) {
      exchange.sendResponseHeaders(status, NO_BODY);
    } else {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("Content-Type", type);
      exchange.sendResponseHeaders(status, bytes.length);
      exchange.getResponseBody().write(bytes);
    }
    exchange.close();
  }

  /** Writes one value. */
  interface JsonWriter {
    void write(JsonGenerator json) throws IOException;
  }
}
