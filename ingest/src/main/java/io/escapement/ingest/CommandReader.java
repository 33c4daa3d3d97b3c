package io.escapement.ingest;

import io.escapement.ledger.CommandDecision;
import io.escapement.ledger.CommandRecord;
import io.escapement.ledger.Limits;
import io.escapement.ledger.PositionAdvance;
import io.escapement.ledger.RecordEnvelope;
import java.util.Base64;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Reads a record of the commands topic as a CloudEvent 1.0, in binary or structured mode, whose
 * type names an operator function and whose data is a JSON object of its arguments.
 *
 * <p>What the arguments mean is the ledger's to say; here only what would keep the ledger from
 * seeing them is judged. Cost: one pass over headers, in structured mode two over the value; a
 * value beyond the limit is refused from its size alone. Thread rule: immutable, any thread.
 * Failure: none, whatever a record contains; what can't be a command is {@link
 * CommandRecord.Refused} with the attribute and what is wrong with it.
 */
final class CommandReader {

  private static final String DATA = "data";

  private final int maxPayloadBytes;

  /**
   * A reader.
   *
   * @param maxPayloadBytes the ledger's limit for a value
   */
  CommandReader(int maxPayloadBytes) {
    this.maxPayloadBytes = maxPayloadBytes;
  }

  /** Reads one record. */
  CommandRecord read(ConsumerRecord<byte[], byte[]> record, PositionAdvance position) {
    RawAttributes raw = new RawAttributes();
    try {
      byte @Nullable [] value = record.value();
      if (value == null) {
        BinaryMode.read(record.headers(), raw);
        throw new InvalidAttribute("value", "null");
      }
      if (value.length > maxPayloadBytes) {
        BinaryMode.read(record.headers(), raw);
        String reason =
            "value: " + value.length + " bytes, the limit is " + maxPayloadBytes + " bytes";
        return refused(record, position, CommandDecision.OVERSIZE, reason, raw, null);
      }
      return command(record, position, value, raw);
    } catch (InvalidAttribute e) {
      return refused(record, position, CommandDecision.INVALID, e.reason(), raw, record.value());
    } catch (RuntimeException | StackOverflowError e) {
      // Whatever a stranger's record provokes is the record's problem, not its partition's.
      String reason = "record: " + WireText.shorten(e.toString());
      return refused(record, position, CommandDecision.INVALID, reason, raw, record.value());
    }
  }

  /** The refusal of a record that reads well and yet can't be stored. */
  static CommandRecord refuse(
      ConsumerRecord<byte[], byte[]> record, PositionAdvance position, String reason) {
    RawAttributes raw = new RawAttributes();
    BinaryMode.read(record.headers(), raw);
    return refused(record, position, CommandDecision.INVALID, reason, raw, record.value());
  }

  /** The same without anything that the record contains. */
  @SuppressWarnings("NullAway") // As below.
  static CommandRecord withhold(
      ConsumerRecord<byte[], byte[]> record, PositionAdvance position, String reason) {
    return new CommandRecord.Refused(
        position,
        record.offset(),
        CommandDecision.INVALID,
        reason,
        null,
        null,
        null,
        null,
        RecordEnvelope.EMPTY);
  }

  private static CommandRecord command(
      ConsumerRecord<byte[], byte[]> record,
      PositionAdvance position,
      byte[] value,
      RawAttributes raw)
      throws InvalidAttribute {
    String contentType = RequestReader.readAttributes(record.headers(), value, raw);
    raw.toEvent();
    String source = raw.requiredText("source", Limits.NAMESPACE_BYTES);
    if (source.startsWith(Limits.RESERVED_NAMESPACE)) {
      throw new InvalidAttribute(
          "source", "sources that start with '" + Limits.RESERVED_NAMESPACE + "' are reserved");
    }
    String id = raw.requiredText("id", Limits.ID_BYTES);
    String type = raw.requiredText("type", Limits.KIND_BYTES);
    requireJson(raw.get(BinaryMode.DATA_CONTENT_TYPE));
    String data =
        RequestReader.isStructured(contentType) ? dataMember(value) : WireText.decode(value);
    if (data == null) {
      throw new InvalidAttribute(DATA, "not UTF-8");
    }
    if (data.indexOf('\0') >= 0) {
      throw new InvalidAttribute(DATA, "has the control character U+0000");
    }
    return new CommandRecord.Command(
        position, record.offset(), source, id, type, data, value, RequestReader.envelope(record));
  }

  private static @Nullable String dataMember(byte[] value) throws InvalidAttribute {
    StructuredMode.Data data = StructuredMode.data(value);
    return switch (data) {
      case StructuredMode.Data.Json json -> json.text();
      case StructuredMode.Data.Binary binary ->
          WireText.decode(Base64.getDecoder().decode(binary.base64()));
      case StructuredMode.Data.None none -> throw new InvalidAttribute(DATA, "missing");
    };
  }

  private static void requireJson(@Nullable String contentType) throws InvalidAttribute {
    if (contentType == null) {
      return;
    }
    String type = RequestReader.mediaType(contentType);
    if (!type.equals("application/json") && !type.equals("text/json") && !type.endsWith("+json")) {
      throw new InvalidAttribute(
          BinaryMode.DATA_CONTENT_TYPE, WireText.quote(contentType) + " is not application/json");
    }
  }

  // NullAway does not see in the class file that the value may be null.
  @SuppressWarnings("NullAway")
  private static CommandRecord refused(
      ConsumerRecord<byte[], byte[]> record,
      PositionAdvance position,
      CommandDecision decision,
      String reason,
      RawAttributes raw,
      byte @Nullable [] value) {
    return new CommandRecord.Refused(
        position,
        record.offset(),
        decision,
        reason,
        raw.getIfSound("source", Limits.NAMESPACE_BYTES),
        raw.getIfSound("id", Limits.ID_BYTES),
        raw.getIfSound("type", Limits.KIND_BYTES),
        value,
        RequestReader.envelope(record));
  }
}
