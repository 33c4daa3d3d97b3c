package io.escapement.dispatcher;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.escapement.ledger.ClaimedTask;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What a handler is given: one attempt of one task.
 *
 * @param id the task
 * @param attempt this attempt's number; grows with every claim
 * @param triesLeft attempts that may still follow this one
 * @param source the request's source
 * @param eventId the request's id
 * @param dueAt when it was due, by the database's clock
 * @param claimedAt when this attempt was claimed, by the database's clock
 * @param idempotencyKey the same for every attempt of the task, for calls that the handler makes
 * @param value the request's value, byte for byte as it came
 */
public record Task(
    long id,
    int attempt,
    int triesLeft,
    String tenant,
    String kind,
    String source,
    String eventId,
    @Nullable String subject,
    Instant dueAt,
    Instant claimedAt,
    String idempotencyKey,
    @Nullable String contentType,
    byte[] value) {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String STRUCTURED = "application/cloudevents+json";

  static Task of(ClaimedTask claimed) {
    return new Task(
        claimed.task(),
        claimed.attempt(),
        claimed.triesLeft(),
        claimed.tenant(),
        claimed.kind(),
        claimed.namespace(),
        claimed.id(),
        claimed.subject(),
        claimed.dueAt(),
        claimed.claimedAt(),
        claimed.idempotencyKey(),
        claimed.contentType(),
        claimed.value());
  }

  /**
   * The event's data: the value itself, or what a structured event carries in {@code data} or
   * {@code data_base64}. A string in {@code data} is its characters in UTF-8, anything else is its
   * JSON text; no data is empty.
   *
   * @throws IllegalArgumentException if a structured value is not the JSON that it was admitted as
   */
  public byte[] data() {
    if (!isStructured()) {
      return value.clone();
    }
    try {
      JsonNode event = JSON.readTree(value);
      JsonNode encoded = event.get("data_base64");
      if (encoded != null && !encoded.isNull()) {
        return encoded.binaryValue();
      }
      JsonNode data = event.get("data");
      if (data == null || data.isNull()) {
        return new byte[0];
      }
      return data.isTextual()
          ? data.textValue().getBytes(StandardCharsets.UTF_8)
          : JSON.writeValueAsBytes(data);
    } catch (IOException e) {
      throw notStructured(e);
    }
  }

  /**
   * The media type of the data; null if the request names none. A structured event's data is JSON
   * unless it says otherwise.
   *
   * @throws IllegalArgumentException if a structured value is not the JSON that it was admitted as
   */
  public @Nullable String dataContentType() {
    if (!isStructured()) {
      return contentType;
    }
    try {
      return JSON.readTree(value).path("datacontenttype").asText("application/json");
    } catch (IOException e) {
      throw notStructured(e);
    }
  }

  private boolean isStructured() {
    return contentType != null && contentType.toLowerCase(Locale.ROOT).startsWith(STRUCTURED);
  }

  private IllegalArgumentException notStructured(IOException cause) {
    return new IllegalArgumentException("task " + id + ": not a structured event", cause);
  }
}
