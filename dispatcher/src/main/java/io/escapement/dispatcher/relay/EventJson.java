package io.escapement.dispatcher.relay;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.escapement.ledger.CommandResult;
import io.escapement.ledger.OutboxEvent;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/**
 * The JSON of the events. A field without a value is left out. Thread rule: one thread, because the
 * buffer is used again.
 */
final class EventJson {

  private static final JsonFactory FACTORY = new JsonFactory();

  private final ByteArrayOutputStream buffer = new ByteArrayOutputStream(512);

  /** Writes an object's fields. */
  private interface Fields {
    void write(JsonGenerator json) throws IOException;
  }

  byte[] receipt(OutboxEvent.Receipt receipt) {
    return object(
        json -> {
          json.writeStringField("decision", receipt.decision().word());
          json.writeStringField("topic", receipt.topic());
          json.writeNumberField("partition", receipt.partition());
          json.writeNumberField("offset", receipt.offset());
          optional(json, "tenant", receipt.tenant());
          optional(json, "kind", receipt.kind());
          optional(json, "source", receipt.namespace());
          optional(json, "id", receipt.id());
          optional(json, "reason", receipt.reason());
          json.writeArrayFieldStart("tasks");
          for (OutboxEvent.Receipt.TaskState task : receipt.tasks()) {
            json.writeStartObject();
            json.writeNumberField("task", task.task());
            json.writeStringField("state", task.state());
            json.writeEndObject();
          }
          json.writeEndArray();
          if (receipt.retryAfter() != null) {
            json.writeNumberField("retryAfterMs", receipt.retryAfter().toMillis());
          }
        });
  }

  byte[] commandReceipt(OutboxEvent.CommandReceipt receipt) {
    return object(
        json -> {
          json.writeStringField("decision", receipt.decision().word());
          json.writeStringField("topic", receipt.topic());
          json.writeNumberField("partition", receipt.partition());
          json.writeNumberField("offset", receipt.offset());
          optional(json, "command", receipt.command());
          optional(json, "source", receipt.source());
          optional(json, "id", receipt.id());
          optional(json, "reason", receipt.reason());
          json.writeArrayFieldStart("results");
          for (CommandResult one : receipt.results()) {
            json.writeStartObject();
            json.writeStringField("target", one.target());
            json.writeStringField("result", one.result());
            json.writeEndObject();
          }
          json.writeEndArray();
        });
  }

  byte[] hint(OutboxEvent.Hint hint) {
    return object(
        json -> {
          json.writeNumberField("task", hint.task());
          json.writeStringField("tenant", hint.tenant());
          json.writeNumberField("slot", hint.slot());
          json.writeStringField("dueAt", hint.dueAt().toString());
        });
  }

  byte[] outcome(OutboxEvent.Outcome outcome) {
    return object(
        json -> {
          json.writeStringField("change", outcome.change());
          json.writeNumberField("task", outcome.task());
          json.writeStringField("source", outcome.namespace());
          json.writeStringField("id", outcome.id());
          json.writeStringField("tenant", outcome.tenant());
          json.writeStringField("kind", outcome.kind());
          json.writeStringField("channel", outcome.channel());
          json.writeNumberField("attempt", outcome.attempt());
          optional(json, "observation", outcome.observation());
          optional(json, "detail", outcome.detail());
          if (outcome.cancelledTooLate()) {
            json.writeBooleanField("cancelledTooLate", true);
          }
        });
  }

  private byte[] object(Fields fields) {
    buffer.reset();
    try (JsonGenerator json = FACTORY.createGenerator(buffer)) {
      json.writeStartObject();
      fields.write(json);
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return buffer.toByteArray();
  }

  private static void optional(JsonGenerator json, String name, @Nullable String value)
      throws IOException {
    if (value != null) {
      json.writeStringField(name, value);
    }
  }
}
