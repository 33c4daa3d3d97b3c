package io.escapement.submit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.escapement.ledger.Decision;
import java.io.IOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The decision on one record, as a producer reads it.
 *
 * @param at the record that was decided
 * @param kind what the record asked for; null if that could not be read
 * @param reason why it was refused; null if it was not, or the decision says it all
 */
public record Receipt(
    Coordinates at, @Nullable String kind, Decision decision, @Nullable String reason) {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Where a record is. */
  public record Coordinates(String topic, int partition, long offset) {}

  /**
   * Reads a record of the receipts topic; empty if it is about a record of another topic than this
   * requests topic. Commands have receipts too, with decisions of their own.
   *
   * @throws IOException if it is not a receipt
   */
  static Optional<Receipt> read(String requestsTopic, byte[] value) throws IOException {
    JsonNode json = JSON.readTree(value);
    try {
      Coordinates at =
          new Coordinates(
              json.required("topic").textValue(),
              json.required("partition").intValue(),
              json.required("offset").longValue());
      if (!at.topic().equals(requestsTopic)) {
        return Optional.empty();
      }
      return Optional.of(
          new Receipt(
              at,
              text(json, "kind"),
              Decision.of(json.required("decision").textValue()),
              text(json, "reason")));
    } catch (IllegalArgumentException e) {
      throw new IOException("not a receipt: " + e.getMessage(), e);
    }
  }

  private static @Nullable String text(JsonNode json, String name) {
    JsonNode value = json.get(name);
    return value == null ? null : value.textValue();
  }
}
