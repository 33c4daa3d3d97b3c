package io.escapement.embedded.stub;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Calls a stub as its users do. */
final class Caller implements AutoCloseable {

  static final String BODY = "{\"to\":\"someone\"}";

  private final String url;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  Caller(String url) {
    this.url = url;
  }

  HttpResponse<String> call(String reference) throws Exception {
    return send(message(reference));
  }

  HttpResponse<String> callBlind(String reference) throws Exception {
    return send(
        request("/messages?dedupe=false")
            .header("Idempotency-Key", reference)
            .POST(BodyPublishers.ofString(BODY)));
  }

  /** Calls, and gives up after a while, as callers do. */
  HttpResponse<String> callFor(Duration limit, String reference) throws Exception {
    return send(message(reference).timeout(limit));
  }

  CompletableFuture<HttpResponse<String>> callAsync(String reference) {
    return client.sendAsync(message(reference).build(), BodyHandlers.ofString());
  }

  /** Calls, and leaves reading the answer's body to the caller. */
  HttpResponse<InputStream> open(String reference) throws Exception {
    return client.send(message(reference).build(), BodyHandlers.ofInputStream());
  }

  HttpResponse<String> query(String reference) throws Exception {
    return send(request("/messages/" + reference).GET());
  }

  HttpResponse<String> queryFor(Duration limit, String reference) throws Exception {
    return send(request("/messages/" + reference).timeout(limit).GET());
  }

  HttpResponse<String> put(String path, String json) throws Exception {
    return send(request(path).PUT(BodyPublishers.ofString(json)));
  }

  /** Sets the steps of a reference's calls. */
  void calls(String reference, String... steps) throws Exception {
    script(reference, "{\"calls\":[\"" + String.join("\",\"", steps) + "\"]}");
  }

  /** Sets the steps of a reference's queries. */
  void queries(String reference, String... steps) throws Exception {
    script(reference, "{\"queries\":[\"" + String.join("\",\"", steps) + "\"]}");
  }

  String counts(String reference) throws Exception {
    return send(request("/stub/counts/" + reference).GET()).body();
  }

  HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
    return client.send(request.build(), BodyHandlers.ofString());
  }

  HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(url + path)).timeout(Duration.ofSeconds(60));
  }

  @Override
  public void close() {
    client.shutdownNow();
  }

  private HttpRequest.Builder message(String reference) {
    return request("/messages")
        .header("Idempotency-Key", reference)
        .POST(BodyPublishers.ofString(BODY));
  }

  private void script(String reference, String json) throws Exception {
    HttpResponse<String> answer = put("/stub/scripts/" + reference, json);
    if (answer.statusCode() != 204) {
      throw new AssertionError(answer.body());
    }
  }
}
