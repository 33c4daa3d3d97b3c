package io.escapement.ingest;

import io.cloudevents.CloudEvent;
import io.escapement.ledger.Decision;
import io.escapement.ledger.Limits;
import io.escapement.ledger.RecordEnvelope;
import io.escapement.ledger.Submission;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Reads a record of a requests topic as a CloudEvent 1.0, in binary or structured mode.
 *
 * <p>The bytes are read here and their meaning is judged by the CloudEvents SDK: {@link BinaryMode}
 * and {@link StructuredMode} say what the SDK's own readers lose. The value that is stored and
 * compared is the record's value in either mode, which no SDK hands out: they re-serialise it. A
 * record with neither a content type nor any attribute in its headers is tried as a JSON event, so
 * that the plainest producer can send one; the binding leaves such a record open.
 *
 * <p>Cost: one pass over headers, in structured mode one over the value; a value beyond the limit
 * is refused from its size alone. Ordering: none. Thread rule: immutable, any thread. Failure:
 * none, whatever a record contains; what can't be a request is {@link Submission.Refused} with the
 * attribute and what is wrong with it.
 */
public final class RequestReader {

  private static final String EVENT_TYPES = "application/cloudevents";

  private final String requestsTopic;
  private final int maxPayloadBytes;

  /**
   * A reader for one set of topics.
   *
   * @param requestsTopic the shared topic; with a dot and a tenant after it, that tenant's own
   * @param maxPayloadBytes the ledger's limit for a value
   */
  public RequestReader(String requestsTopic, int maxPayloadBytes) {
    this.requestsTopic = requestsTopic;
    this.maxPayloadBytes = maxPayloadBytes;
  }

  /**
   * Reads one record.
   *
   * @param positionIndex where the record's partition stands in the batch
   */
  public Submission read(ConsumerRecord<byte[], byte[]> record, int positionIndex) {
    RawAttributes raw = new RawAttributes();
    try {
      byte @Nullable [] value = record.value();
      if (value == null) {
        BinaryMode.read(record.headers(), raw);
        throw new InvalidAttribute("value", "null");
      }
      if (value.length > maxPayloadBytes) {
        // Headers are not the payload: the producer learns which of its requests it was.
        BinaryMode.read(record.headers(), raw);
        String reason =
            "value: " + value.length + " bytes, the limit is " + maxPayloadBytes + " bytes";
        return refused(record, positionIndex, Decision.OVERSIZE, reason, raw, null);
      }
      String contentType = readAttributes(record.headers(), value, raw);
      return request(record, positionIndex, value, contentType, raw);
    } catch (InvalidAttribute e) {
      return refused(record, positionIndex, Decision.INVALID, e.reason(), raw, record.value());
    } catch (RuntimeException | StackOverflowError e) {
      // Whatever a stranger's record provokes is the record's problem, not its partition's.
      String reason = "record: " + WireText.shorten(e.toString());
      return refused(record, positionIndex, Decision.INVALID, reason, raw, record.value());
    }
  }

  /** The refusal of a record that reads well and yet can't be admitted. */
  Submission.Refused refuse(
      ConsumerRecord<byte[], byte[]> record, int positionIndex, String reason) {
    RawAttributes raw = new RawAttributes();
    BinaryMode.read(record.headers(), raw);
    return refused(record, positionIndex, Decision.INVALID, reason, raw, record.value());
  }

  /** The same without anything that the record contains. */
  @SuppressWarnings("NullAway") // As below.
  static Submission.Refused withhold(
      ConsumerRecord<byte[], byte[]> record, int positionIndex, String reason) {
    return new Submission.Refused(
        positionIndex,
        record.offset(),
        Decision.INVALID,
        reason,
        null,
        null,
        null,
        null,
        null,
        RecordEnvelope.EMPTY);
  }

  /** Reads the attributes in the record's mode and returns the value's content type. */
  static @Nullable String readAttributes(Headers headers, byte[] value, RawAttributes into)
      throws InvalidAttribute {
    String contentType = BinaryMode.contentType(headers);
    if (contentType == null) {
      if (BinaryMode.hasAttributes(headers) || !startsLikeJson(value)) {
        BinaryMode.read(headers, into);
        return into.get(BinaryMode.DATA_CONTENT_TYPE);
      }
      StructuredMode.read(value, into);
      return StructuredMode.CONTENT_TYPE;
    }
    String mediaType = mediaType(contentType);
    if (mediaType.equals(StructuredMode.CONTENT_TYPE)) {
      StructuredMode.read(value, into);
      return contentType;
    }
    BinaryMode.read(headers, into);
    if (mediaType.startsWith(EVENT_TYPES)) {
      throw new InvalidAttribute(
          BinaryMode.CONTENT_TYPE,
          WireText.quote(contentType) + " can't be read; " + StructuredMode.CONTENT_TYPE + " can");
    }
    return contentType;
  }

  private Submission request(
      ConsumerRecord<byte[], byte[]> record,
      int positionIndex,
      byte[] value,
      @Nullable String contentType,
      RawAttributes raw)
      throws InvalidAttribute {
    CloudEvent event = raw.toEvent();
    String source = raw.requiredText("source", Limits.NAMESPACE_BYTES);
    if (source.startsWith(Limits.RESERVED_NAMESPACE)) {
      throw new InvalidAttribute(
          "source", "sources that start with '" + Limits.RESERVED_NAMESPACE + "' are reserved");
    }
    String id = raw.requiredText("id", Limits.ID_BYTES);
    String kind = raw.requiredText("type", Limits.KIND_BYTES);
    String subject = raw.text("subject", Limits.SUBJECT_BYTES);
    String tenant = tenant(record.topic(), raw);
    if (contentType != null) {
      String problem = WireText.problem(contentType, Limits.CONTENT_TYPE_BYTES);
      if (problem != null) {
        throw new InvalidAttribute(BinaryMode.CONTENT_TYPE, problem);
      }
    }
    RequestTimes times = RequestTimes.of(event.getTime(), record, raw);
    return new Submission.Request(
        positionIndex,
        record.offset(),
        source,
        id,
        tenant,
        kind,
        subject,
        times.issuedAt(),
        times.dueAt(),
        times.expiresAt(),
        maxAttempts(raw),
        contentType,
        value,
        envelope(record));
  }

  private String tenant(String topic, RawAttributes raw) throws InvalidAttribute {
    String named = raw.text("tenant", Limits.TENANT_BYTES);
    String owner = ownerOf(topic);
    if (owner == null) {
      return raw.requiredText("tenant", Limits.TENANT_BYTES);
    }
    String problem = WireText.problem(owner, Limits.TENANT_BYTES);
    if (problem != null) {
      throw new InvalidAttribute("tenant", "the topic's tenant is " + problem);
    }
    if (named != null && !named.equals(owner)) {
      throw new InvalidAttribute(
          "tenant", WireText.quote(named) + " on the topic of " + WireText.quote(owner));
    }
    return owner;
  }

  /** The tenant whose own topic it is; null on the shared topic. */
  private @Nullable String ownerOf(String topic) {
    return topic.startsWith(requestsTopic + ".")
        ? topic.substring(requestsTopic.length() + 1)
        : null;
  }

  private static @Nullable Integer maxAttempts(RawAttributes raw) throws InvalidAttribute {
    Long attempts = RequestTimes.wholeNumber("maxattempts", raw);
    if (attempts == null) {
      return null;
    }
    if (attempts < 1 || attempts > Limits.MAX_ATTEMPTS) {
      throw new InvalidAttribute(
          "maxattempts", attempts + " is not between 1 and " + Limits.MAX_ATTEMPTS);
    }
    return Math.toIntExact(attempts);
  }

  // NullAway does not see in the class file that the value may be null.
  @SuppressWarnings("NullAway")
  private Submission.Refused refused(
      ConsumerRecord<byte[], byte[]> record,
      int positionIndex,
      Decision decision,
      String reason,
      RawAttributes raw,
      byte @Nullable [] value) {
    String owner = ownerOf(record.topic());
    boolean ownerSound = owner != null && WireText.problem(owner, Limits.TENANT_BYTES) == null;
    return new Submission.Refused(
        positionIndex,
        record.offset(),
        decision,
        reason,
        raw.getIfSound("source", Limits.NAMESPACE_BYTES),
        raw.getIfSound("id", Limits.ID_BYTES),
        ownerSound ? owner : raw.getIfSound("tenant", Limits.TENANT_BYTES),
        raw.getIfSound("type", Limits.KIND_BYTES),
        value,
        envelope(record));
  }

  static RecordEnvelope envelope(ConsumerRecord<byte[], byte[]> record) {
    List<RecordEnvelope.Header> headers = new ArrayList<>();
    for (Header header : record.headers()) {
      headers.add(new RecordEnvelope.Header(header.key(), header.value()));
    }
    return new RecordEnvelope(record.key(), headers);
  }

  /** Whether the attributes and the data are in the value, as {@link #readAttributes} told it. */
  static boolean isStructured(@Nullable String contentType) {
    return contentType != null && mediaType(contentType).equals(StructuredMode.CONTENT_TYPE);
  }

  /** A content type without its parameters. */
  static String mediaType(String contentType) {
    int parameters = contentType.indexOf(';');
    String type = parameters < 0 ? contentType : contentType.substring(0, parameters);
    return type.strip().toLowerCase(Locale.ROOT);
  }

  private static boolean startsLikeJson(byte[] value) {
    for (byte b : value) {
      if (b == '{') {
        return true;
      }
      if (b != ' ' && b != '\t' && b != '\r' && b != '\n') {
        return false;
      }
    }
    return false;
  }
}
