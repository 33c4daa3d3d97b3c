package io.escapement.embedded.stub;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/**
 * The stub as a process of its own, with the Java and the class path of this one: what a test calls
 * across a real network, and asks afterwards.
 *
 * <p>Cost: about half a second to start. Ordering: it ends at {@link #close()}, and when this
 * process ends, even killed. Thread rule: any thread. Failure: {@link IllegalArgumentException} for
 * a bad script, with the stub's own line; {@link IllegalStateException} if it does not start or
 * answers otherwise than it should; {@link UncheckedIOException} if it can't be reached.
 */
public final class StubProcess implements AutoCloseable {

  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(60);
  private static final int SCRIPTS_A_REQUEST = 10_000;
  private static final String GREETING = "stub-provider listening on ";
  private static final JsonMapper JSON = new JsonMapper();

  private final Process process;
  private final URI url;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private StubProcess(Process process, URI url) {
    this.process = process;
    this.url = url;
  }

  /**
   * Starts one on a free loopback port, and waits until it answers.
   *
   * @param arguments more of {@link StubProviderMain}'s
   */
  public static StubProcess start(String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx512m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                StubProviderMain.class.getName(),
                "--end-with-parent"));
    command.addAll(List.of(arguments));
    try {
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      return new StubProcess(process, URI.create(greeted(process)));
    } catch (IOException e) {
      throw new UncheckedIOException("the stub can't be started", e);
    }
  }

  /** Where its paths begin, without a slash at the end. */
  public URI url() {
    return url;
  }

  /** Where calls go. */
  public URI messages() {
    return at(MessagePaths.PATH);
  }

  /** Its process, to be killed or stopped in the midst of things. */
  public ProcessHandle handle() {
    return process.toHandle();
  }

  /** Gives a reference its steps, from the beginning; empty lists accept, and tell the truth. */
  public void script(String reference, List<String> calls, List<String> queries) {
    put("/stub/scripts/" + encode(reference), json(new StubScript(calls, queries)));
  }

  /** Gives any number of references their steps. */
  public void scripts(Map<String, StubScript> scripts) {
    ObjectNode batch = JSON.createObjectNode();
    for (Map.Entry<String, StubScript> entry : scripts.entrySet()) {
      batch.set(entry.getKey(), json(entry.getValue()));
      if (batch.size() == SCRIPTS_A_REQUEST) {
        put("/stub/scripts", batch);
        batch = JSON.createObjectNode();
      }
    }
    if (!batch.isEmpty()) {
      put("/stub/scripts", batch);
    }
  }

  /** What references get that are seen for the first time from now on, each a copy of its own. */
  public void defaultScript(List<String> calls, List<String> queries) {
    put("/stub/default", json(new StubScript(calls, queries)));
  }

  /** The counts of a reference; zeros for one that was never seen. */
  public StubCounts counts(String reference) {
    return counts(get("/stub/counts/" + encode(reference)));
  }

  /** The counts of every reference that was seen or has a script. */
  public Map<String, StubCounts> all() {
    Map<String, StubCounts> all = new HashMap<>();
    for (Map.Entry<String, JsonNode> entry :
        get("/stub/counts").required("references").properties()) {
      all.put(entry.getKey(), counts(entry.getValue()));
    }
    return all;
  }

  /** Calls whose signature did not hold; they are counted nowhere else. */
  public long unauthorized() {
    return get("/stub/counts").required("totals").required("unauthorized").longValue();
  }

  /** Makes it forget every key, as a provider does after its retention; nothing else. */
  public void forget() {
    send(HttpRequest.newBuilder(at("/stub/forget")).POST(BodyPublishers.noBody()));
  }

  /** Makes it forget everything, and closes what hangs. */
  public void reset() {
    send(HttpRequest.newBuilder(at("/stub")).DELETE());
  }

  /** Kills it. */
  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
    client.close();
  }

  private static String greeted(Process process) throws IOException {
    boolean up = false;
    try {
      BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
      String line =
          CompletableFuture.supplyAsync(() -> readLine(out), Thread::startVirtualThread)
              .orTimeout(START_LIMIT.toMillis(), TimeUnit.MILLISECONDS)
              .join();
      if (!line.startsWith(GREETING)) {
        throw new IllegalStateException("the stub did not start; it said: '" + line + "'");
      }
      up = true;
      return line.substring(GREETING.length());
    } catch (CompletionException e) {
      throw new IllegalStateException("the stub did not start within " + START_LIMIT, e);
    } finally {
      if (!up) {
        process.destroyForcibly();
      }
    }
  }

  private static String readLine(BufferedReader out) {
    try {
      String line = out.readLine();
      return line == null ? "" : line;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private URI at(String path) {
    return URI.create(url + path);
  }

  private void put(String path, JsonNode body) {
    send(HttpRequest.newBuilder(at(path)).PUT(BodyPublishers.ofString(body.toString())));
  }

  private JsonNode get(String path) {
    try {
      return JSON.readTree(send(HttpRequest.newBuilder(at(path)).GET()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String send(HttpRequest.Builder request) {
    try {
      HttpResponse<String> answer =
          client.send(request.timeout(ANSWER_LIMIT).build(), BodyHandlers.ofString());
      if (answer.statusCode() == 400) {
        throw new IllegalArgumentException(answer.body().strip());
      }
      if (answer.statusCode() / 100 != 2) {
        throw new IllegalStateException(
            "the stub answered " + answer.statusCode() + ": " + answer.body().strip());
      }
      return answer.body();
    } catch (IOException e) {
      throw new UncheckedIOException("the stub at " + url + " does not answer", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while the stub was asked", e);
    }
  }

  private static ObjectNode json(StubScript script) {
    ObjectNode json = JSON.createObjectNode();
    script.calls().forEach(json.putArray("calls")::add);
    script.queries().forEach(json.putArray("queries")::add);
    return json;
  }

  private static StubCounts counts(JsonNode json) {
    JsonNode sha256 = json.required("bodySha256");
    return new StubCounts(
        json.required("calls").intValue(),
        json.required("queries").intValue(),
        json.required("delivered").intValue(),
        json.required("replayed").intValue(),
        sha256.isNull() ? null : sha256.textValue());
  }

  /** A path takes a space as %20, and a plus as itself or as %2B. */
  private static String encode(String reference) {
    return URLEncoder.encode(reference, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
