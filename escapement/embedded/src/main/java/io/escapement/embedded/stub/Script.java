package io.escapement.embedded.stub;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A script that was read and found good. Lists are shared: a reference only counts along them. */
record Script(List<Step<CallWord>> calls, List<Step<QueryWord>> queries) {

  /** Accepts, and tells the truth. */
  static final Script EMPTY = new Script(List.of(), List.of());

  /** The longest list of steps. */
  static final int MAX_STEPS = 1_000;

  private static final String FORM = "{\"calls\":[\"accept\"],\"queries\":[\"find\"]}";

  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  /** Reads one script. */
  static Script read(byte[] json) {
    return of(parse(json));
  }

  /** Reads a map from reference to script; all are good, or none is taken. */
  static Map<String, Script> readAll(byte[] json) {
    JsonNode root = parse(json);
    if (!root.isObject()) {
      throw new RequestException(400, "write an object: {\"reference\": " + FORM + "}");
    }
    Map<String, Script> scripts = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> entry : root.properties()) {
      String reference = References.checked(entry.getKey());
      try {
        scripts.put(reference, of(entry.getValue()));
      } catch (RequestException e) {
        throw new RequestException(
            e.status(), "reference " + Step.shown(reference) + ": " + e.line());
      }
    }
    return scripts;
  }

  private static JsonNode parse(byte[] json) {
    try {
      return JSON.readTree(json);
    } catch (JacksonException e) {
      throw new RequestException(
          400, "not JSON: " + e.getOriginalMessage().lines().findFirst().orElse(""));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Script of(JsonNode node) {
    if (!node.isObject()) {
      throw new RequestException(400, "a script is an object: " + FORM);
    }
    List<Step<CallWord>> calls = List.of();
    List<Step<QueryWord>> queries = List.of();
    for (Map.Entry<String, JsonNode> field : node.properties()) {
      switch (field.getKey()) {
        case "calls" -> calls = steps(CallWord.class, "call", field.getValue());
        case "queries" -> queries = steps(QueryWord.class, "query", field.getValue());
        default ->
            throw new RequestException(
                400, "a script has no '" + Step.shown(field.getKey()) + "'; it is written " + FORM);
      }
    }
    return new Script(calls, queries);
  }

  private static <W extends Enum<W> & Word> List<Step<W>> steps(
      Class<W> words, String what, JsonNode list) {
    if (!list.isArray() || list.size() > MAX_STEPS) {
      throw new RequestException(
          400, "the " + what + " steps are a list of at most " + MAX_STEPS + " strings");
    }
    List<Step<W>> steps = new ArrayList<>(list.size());
    for (JsonNode step : list) {
      steps.add(Step.parse(words, what, step.isTextual() ? step.textValue() : step.toString()));
    }
    return List.copyOf(steps);
  }
}
