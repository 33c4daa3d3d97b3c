package io.escapement.ingest;

import static io.escapement.ingest.RecordBuilder.bare;
import static io.escapement.ingest.RecordBuilder.binary;
import static io.escapement.ingest.RecordBuilder.bytes;
import static io.escapement.ingest.RecordBuilder.json;
import static io.escapement.ingest.RecordBuilder.structured;
import static org.assertj.core.api.Assertions.assertThat;

import io.cloudevents.CloudEvent;
import io.cloudevents.core.builder.CloudEventBuilder;
import io.cloudevents.core.provider.EventFormatProvider;
import io.cloudevents.jackson.JsonFormat;
import io.cloudevents.kafka.KafkaMessageFactory;
import io.escapement.ledger.Decision;
import io.escapement.ledger.Limits;
import io.escapement.ledger.Submission;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.junit.jupiter.api.Test;

class RequestReaderTest {

  private static final int LIMIT = 100_000;
  private static final Instant RECORD_TIME = Instant.ofEpochMilli(RecordBuilder.TIMESTAMP);

  private final RequestReader reader = new RequestReader(RecordBuilder.TOPIC, LIMIT);

  @Test
  void aBinaryEventBecomesARequestWithTheRecordsValue() {
    byte[] value = {0, 1, (byte) 0xFF, '"'};
    Submission.Request request =
        request(
            binary()
                .value(value)
                .header("ce_subject", "booking-9")
                .header("ce_time", "2026-03-01T11:59:00.123456789+01:00")
                .header("ce_maxattempts", "3")
                .header("content-type", "application/octet-stream"));
    assertThat(request.positionIndex()).isEqualTo(4);
    assertThat(request.offset()).isEqualTo(7);
    assertThat(request.namespace()).isEqualTo("/bookings");
    assertThat(request.id()).isEqualTo("id-1");
    assertThat(request.tenant()).isEqualTo("acme");
    assertThat(request.kind()).isEqualTo("work");
    assertThat(request.subject()).isEqualTo("booking-9");
    assertThat(request.issuedAt()).isEqualTo(Instant.parse("2026-03-01T10:59:00.123456Z"));
    assertThat(request.dueAt()).isNull();
    assertThat(request.expiresAt()).isNull();
    assertThat(request.maxAttempts()).isEqualTo(3);
    assertThat(request.contentType()).isEqualTo("application/octet-stream");
    assertThat(request.value()).isSameAs(value);
    assertThat(request.envelope().key()).isEqualTo(bytes("key"));
    assertThat(request.envelope().headers()).hasSize(9);
  }

  @Test
  void aStructuredEventKeepsTheWholeRecordsValue() {
    String event = "  " + json("\"data\" : {\"b\":1, \"a\":2 }", "\"delayms\":1500") + "\n";
    Submission.Request request =
        request(
            structured(event)
                .without("content-type")
                .header("content-type", "Application/CloudEvents+JSON; charset=utf-8"));
    assertThat(request.id()).isEqualTo("id-1");
    assertThat(request.tenant()).isEqualTo("acme");
    assertThat(request.issuedAt()).isEqualTo(RECORD_TIME);
    assertThat(request.dueAt()).isEqualTo(RECORD_TIME.plusMillis(1500));
    assertThat(request.contentType()).isEqualTo("Application/CloudEvents+JSON; charset=utf-8");
    assertThat(request.value()).isEqualTo(bytes(event));
  }

  @Test
  void whatTheSdkWritesIsReadInBothModes() {
    CloudEvent event =
        CloudEventBuilder.v1()
            .withId("ü-1")
            .withSource(URI.create("urn:x:1"))
            .withType("t")
            .withSubject("s")
            .withTime(OffsetDateTime.of(2026, 3, 1, 0, 0, 0, 0, ZoneOffset.ofHours(-3)))
            .withExtension("tenant", "acme")
            .withExtension("ttlms", 1000)
            .withData("application/json", bytes("{\"a\":1}"))
            .build();
    ProducerRecord<String, byte[]> asBinary =
        KafkaMessageFactory.createWriter(RecordBuilder.TOPIC, "k").writeBinary(event);
    ProducerRecord<String, byte[]> asJson =
        KafkaMessageFactory.createWriter(RecordBuilder.TOPIC, "k")
            .writeStructured(
                event, EventFormatProvider.getInstance().resolveFormat(JsonFormat.CONTENT_TYPE));
    for (ProducerRecord<String, byte[]> written : List.of(asBinary, asJson)) {
      RecordBuilder record = bare().value(written.value());
      for (Header header : written.headers()) {
        record.header(header.key(), header.value());
      }
      Submission.Request request = request(record);
      assertThat(request.id()).isEqualTo("ü-1");
      assertThat(request.namespace()).isEqualTo("urn:x:1");
      assertThat(request.subject()).isEqualTo("s");
      assertThat(request.tenant()).isEqualTo("acme");
      assertThat(request.issuedAt()).isEqualTo(Instant.parse("2026-03-01T03:00:00Z"));
      assertThat(request.expiresAt()).isEqualTo(Instant.parse("2026-03-01T03:00:01Z"));
      assertThat(request.value()).isEqualTo(written.value());
    }
  }

  @Test
  void aJsonEventWithoutAnyHeaderIsReadAsStructured() {
    Submission.Request request = request(bare().value(bytes(json())));
    assertThat(request.id()).isEqualTo("id-1");
    assertThat(request.contentType()).isEqualTo("application/cloudevents+json");
  }

  @Test
  void aTenantsOwnTopicIsTheTenant() {
    RecordBuilder record = binary().topic(RecordBuilder.TOPIC + ".acme.eu").without("ce_tenant");
    assertThat(request(record).tenant()).isEqualTo("acme.eu");
    assertThat(request(record.header("ce_tenant", "acme.eu")).tenant()).isEqualTo("acme.eu");
    Submission.Refused refused = invalid(record.with("ce_tenant", "other"), "tenant", "'other'");
    assertThat(refused.tenant()).isEqualTo("acme.eu");
  }

  @Test
  void anEmptyValueIsARequestAndANullValueIsNot() {
    assertThat(request(binary().value(new byte[0])).value()).isEmpty();
    Submission.Refused refused = invalid(binary().value(null), "value", "null");
    assertThat(refused.id()).isEqualTo("id-1");
    assertThat(refused.value()).isNull();
  }

  @Test
  void keysAndForeignHeadersMeanNothing() {
    request(
        binary()
            .key(null)
            .header("traceparent", (byte[]) null)
            .header("traceparent", new byte[] {(byte) 0xC0})
            .header("", "x"));
  }

  @Test
  void aRecordWithoutHeadersIsInvalid() {
    invalid(bare(), "specversion", "missing");
    invalid(bare().value(bytes("anything")), "specversion", "missing");
    invalid(bare().value(new byte[0]), "specversion", "missing");
  }

  @Test
  void whatMustBeThereIsMissed() {
    invalid(binary().without("ce_specversion"), "specversion", "missing");
    invalid(binary().without("ce_id"), "id", "missing");
    invalid(binary().without("ce_source"), "source", "missing");
    invalid(binary().without("ce_type"), "type", "missing");
    invalid(binary().without("ce_tenant"), "tenant", "missing");
    invalid(structured("{}"), "missing");
    invalid(structured(json().replace("\"id-1\"", "null")), "id", "missing");
  }

  @Test
  void anUnknownSpecVersionIsInvalid() {
    invalid(binary().with("ce_specversion", "0.3"), "specversion", "'0.3'");
    invalid(binary().with("ce_specversion", "2.0"), "specversion", "'2.0'");
    invalid(binary().with("ce_specversion", ""), "specversion", "''");
    invalid(structured(json().replace("1.0", "1.1")), "specversion", "'1.1'");
  }

  @Test
  void aHeaderWithoutAValueIsInvalid() {
    for (String name : new String[] {"ce_id", "ce_tenant", "ce_dueat", "ce_any", "content-type"}) {
      String attribute = name.replace("ce_", "");
      invalid(binary().without(name).header(name, (byte[]) null), attribute, "null");
    }
  }

  @Test
  void duplicateHeadersAreInvalidEvenIfTheyAgree() {
    Submission.Refused refused = invalid(binary().header("ce_id", "id-1"), "id", "more than once");
    assertThat(refused.id()).isNull();
    assertThat(refused.namespace()).isEqualTo("/bookings");
    invalid(binary().header("ce_ID", "id-2"), "id", "more than once");
    invalid(
        binary().header("content-type", "a/b").header("content-type", "a/b"),
        "content-type",
        "more than once");
    invalid(
        binary().header("content-type", "a/b").header("ce_datacontenttype", "a/c"),
        "datacontenttype",
        "more than once");
  }

  @Test
  void bytesThatAreNotUtf8AreInvalidInAttributesAndFineInAValue() {
    byte[] overlong = {'a', (byte) 0xC0, (byte) 0x80};
    byte[] surrogate = {(byte) 0xED, (byte) 0xA0, (byte) 0x80};
    invalid(binary().without("ce_id").header("ce_id", overlong), "id", "not UTF-8");
    invalid(binary().without("ce_tenant").header("ce_tenant", surrogate), "tenant", "not UTF-8");
    invalid(binary().header("content-type", overlong), "content-type", "not UTF-8");
    request(binary().value(overlong));
    invalid(structured("").value(overlong), "value", "not UTF-8");
    byte[] utf16 = json().getBytes(StandardCharsets.UTF_16LE);
    invalid(structured("").value(utf16), "value", "JSON");
  }

  @Test
  void controlCharactersAndBrokenUnicodeAreInvalid() {
    invalid(binary().with("ce_id", "a\u0000b"), "id", "U+0000");
    invalid(binary().with("ce_tenant", "a\nb"), "tenant", "U+000A");
    invalid(binary().with("ce_subject", "a\u0085"), "subject", "U+0085");
    invalid(binary().with("ce_type", "a\uFFFF"), "type", "U+FFFF");
    invalid(binary().header("content-type", "a\tb"), "content-type", "U+0009");
    Submission.Refused refused =
        invalid(structured(json("\"subject\":\"\\ud800\"")), "subject", "U+D800");
    assertThat(refused.id()).isEqualTo("id-1");
    invalid(structured(json().replace("acme", "a\\u0000")), "tenant", "U+0000");
    invalid(binary().with("ce_source", "a b"), "source", "'a b'");
  }

  @Test
  void whatIsTooLongIsInvalidAndNotRepeated() {
    String long10k = "t".repeat(10_000);
    Submission.Refused refused = invalid(binary().with("ce_tenant", long10k), "tenant", "128");
    assertThat(refused.tenant()).isNull();
    assertThat(refused.reason()).hasSizeLessThan(300);
    invalid(binary().with("ce_id", "é".repeat(257)), "id", "512");
    request(binary().with("ce_id", "é".repeat(256)));
    invalid(binary().with("ce_source", "s".repeat(1025)), "source", "1024");
    invalid(binary().with("ce_subject", "s".repeat(1025)), "subject", "1024");
    invalid(binary().with("ce_type", "s".repeat(256)), "type", "255");
    invalid(binary().header("content-type", "s".repeat(256)), "content-type", "255");
    RecordBuilder onTopic = binary().topic(RecordBuilder.TOPIC + "." + "t".repeat(200));
    assertThat(invalid(onTopic.without("ce_tenant"), "tenant", "128").tenant()).isNull();
  }

  @Test
  void emptyAttributesAreInvalid() {
    for (String name : new String[] {"id", "source", "type", "tenant", "subject"}) {
      invalid(binary().with("ce_" + name, ""), name, "empty");
    }
  }

  @Test
  void attributeNamesAreJudgedByTheSdk() {
    invalid(binary().header("ce_trace-id", "1"), "trace-id", "name");
    invalid(binary().header("ce_", "1"), "ce_", "without a name");
    invalid(binary().header("ce_dataschema", "::"), "dataschema", "'::'");
    invalid(structured(json("\"" + "é".repeat(5_000) + "\":\"1\"")), "é", "name");
  }

  @Test
  void reservedSourcesAreInvalid() {
    invalid(binary().with("ce_source", Limits.RESERVED_NAMESPACE + "x"), "source", "reserved");
  }

  @Test
  void dueAndDelay() {
    assertThat(request(binary().header("ce_delayms", "0")).dueAt()).isEqualTo(RECORD_TIME);
    assertThat(request(binary().header("ce_dueat", "2026-03-01T13:00:00+01:00")).dueAt())
        .isEqualTo(RECORD_TIME);
    assertThat(request(binary().header("ce_dueat", "1970-01-01T00:00:00Z")).dueAt())
        .as("only the database judges what is past")
        .isEqualTo(Instant.EPOCH);
    invalid(
        binary().header("ce_dueat", "2026-03-01T13:00:00Z").header("ce_delayms", "1"),
        "delayms",
        "'dueat'");
  }

  @Test
  void dueTimesAreNeverRoundedDown() {
    assertThat(request(binary().header("ce_dueat", "2026-03-01T13:00:00.000000001Z")).dueAt())
        .isEqualTo(Instant.parse("2026-03-01T13:00:00.000001Z"));
  }

  @Test
  void delaysThatCannotBeAreInvalid() {
    String digits = "9".repeat(1_000);
    invalid(binary().header("ce_delayms", "-1"), "delayms", "-1");
    invalid(binary().header("ce_delayms", digits), "delayms", "18 digits");
    invalid(binary().header("ce_delayms", "-" + digits), "delayms", "18 digits");
    invalid(binary().header("ce_delayms", "1.5"), "delayms", "'1.5'");
    invalid(binary().header("ce_delayms", "1e3"), "delayms", "'1e3'");
    invalid(binary().header("ce_delayms", ""), "delayms", "''");
    invalid(binary().header("ce_delayms", "-"), "delayms", "'-'");
    invalid(binary().header("ce_delayms", "٣"), "delayms", "whole number");
    invalid(structured(json("\"delayms\":" + digits)), "delayms", "18 digits");
    invalid(structured(json("\"delayms\":-5")), "delayms", "-5");
    invalid(structured(json("\"delayms\":true")), "delayms", "'true'");
    invalid(structured(json("\"delayms\":[1]")), "delayms", "neither");
    long furthest = Limits.FURTHEST_DUE.toMillis();
    invalid(binary().header("ce_delayms", "" + (furthest + 1)), "delayms", "36500 days");
    assertThat(request(binary().header("ce_delayms", "" + furthest)).dueAt())
        .isEqualTo(RECORD_TIME.plus(Limits.FURTHEST_DUE));
  }

  @Test
  void timesThatCannotBeAreInvalid() {
    invalid(binary().header("ce_time", "yesterday"), "time", "'yesterday'");
    invalid(binary().header("ce_time", "+300000-01-01T00:00:00Z"), "time", "9999");
    invalid(binary().header("ce_time", "-0044-03-15T00:00:00Z"), "time", "9999");
    invalid(binary().header("ce_dueat", "+300000-01-01T00:00:00Z"), "dueat", "9999");
    invalid(binary().header("ce_dueat", "9999-01-01T00:00:00Z"), "dueat", "36500 days");
    invalid(binary().header("ce_dueat", "2026-02-30T00:00:00Z"), "dueat", "RFC 3339");
    invalid(binary().header("ce_dueat", "2026-03-01T00:00:00"), "dueat", "RFC 3339");
    invalid(binary().header("ce_expiresat", "+300000-01-01T00:00:00Z"), "expiresat", "9999");
    invalid(
        binary().header("ce_time", "9999-12-31T00:00:00Z").header("ce_delayms", "86400001"),
        "delayms",
        "9999");
    invalid(binary().timestamp(-1), "time", "no timestamp");
    invalid(binary().timestamp(Long.MAX_VALUE), "time", "9999");
  }

  @Test
  void expiryMustFollowDue() {
    assertThat(request(binary().header("ce_ttlms", "1")).expiresAt())
        .isEqualTo(RECORD_TIME.plusMillis(1));
    invalid(binary().header("ce_ttlms", "0"), "ttlms", "0");
    invalid(binary().header("ce_ttlms", "-3"), "ttlms", "-3");
    invalid(
        binary().header("ce_delayms", "1000").header("ce_ttlms", "1000"), "ttlms", "not after due");
    invalid(
        binary()
            .header("ce_dueat", "2026-03-02T00:00:00Z")
            .header("ce_expiresat", "2026-03-02T00:00:00Z"),
        "expiresat",
        "not after due");
    invalid(
        binary().header("ce_expiresat", "2026-03-01T11:00:00Z"),
        "expiresat",
        "not after the request's time");
    invalid(
        binary().header("ce_expiresat", "2026-03-02T00:00:00Z").header("ce_ttlms", "5"),
        "ttlms",
        "'expiresat'");
    Submission.Request both =
        request(binary().header("ce_delayms", "1000").header("ce_ttlms", "1001"));
    assertThat(both.expiresAt()).isEqualTo(RECORD_TIME.plus(Duration.ofMillis(1001)));
  }

  @Test
  void attemptsAreBounded() {
    invalid(binary().header("ce_maxattempts", "0"), "maxattempts", "0");
    invalid(binary().header("ce_maxattempts", "1001"), "maxattempts", "1001");
    invalid(binary().header("ce_maxattempts", "99999999999"), "maxattempts", "1000");
    invalid(structured(json("\"maxattempts\":2.0")), "maxattempts", "'2.0'");
    assertThat(request(structured(json("\"maxattempts\":2"))).maxAttempts()).isEqualTo(2);
  }

  @Test
  void anOversizeValueIsRefusedFromItsSizeWithTheIdentityOfItsHeaders() {
    Submission.Refused refused =
        (Submission.Refused) reader.read(binary().value(new byte[LIMIT + 1]).consumed(), 0);
    assertThat(refused.decision()).isEqualTo(Decision.OVERSIZE);
    assertThat(refused.reason()).contains("100001").contains("100000");
    assertThat(refused.id()).isEqualTo("id-1");
    assertThat(refused.value()).isNull();
    request(binary().value(new byte[LIMIT]));
  }

  @Test
  void aJsonStringOfTwentyMillionCharactersIsOversizeOrJustLong() {
    byte[] event = bytes(json("\"data\":\"" + "x".repeat(20_000_001) + "\""));
    Submission small = reader.read(structured("").value(event).consumed(), 0);
    assertThat(((Submission.Refused) small).decision()).isEqualTo(Decision.OVERSIZE);
    RequestReader generous = new RequestReader(RecordBuilder.TOPIC, 50_000_000);
    Submission large = generous.read(structured("").value(event).consumed(), 0);
    assertThat(large).isInstanceOf(Submission.Request.class);
    byte[] asTenant = bytes(json().replace("acme", "x".repeat(20_000_001)));
    Submission tenant = generous.read(structured("").value(asTenant).consumed(), 0);
    assertThat(((Submission.Refused) tenant).reason()).startsWith("tenant: longer than 128");
  }

  @Test
  void deepJsonIsInvalid() {
    String deep = "[".repeat(2_000) + "]".repeat(2_000);
    invalid(structured(json("\"data\":" + deep)), "value", "deeper");
    invalid(structured(json("\"x\":" + deep)), "value", "deeper");
    invalid(structured("[".repeat(50_000)), "value", "not a JSON object");
    invalid(structured("{\"a\":".repeat(16_000)), "value", "deeper");
  }

  @Test
  void dataIsNotLookedAt() {
    request(structured(json("\"data\":" + "7".repeat(1_001))));
    request(structured(json("\"data\":{\"a\":1,\"a\":2,\"b\":1e999999999}")));
    request(structured(json("\"datacontenttype\":\"text/plain\"", "\"data\":5")));
    request(structured(json("\"data_base64\":\"AAEC\"")));
    invalid(structured(json("\"data_base64\":\"%\"")), "data_base64", "not Base64");
    invalid(structured(json("\"data_base64\":[]")), "data_base64", "not a string");
    invalid(structured(json("\"data_base64\":\"AAEC\"", "\"data\":1")), "data_base64", "'data'");
  }

  @Test
  void duplicateJsonKeysAreInvalid() {
    invalid(structured(json("\"id\":\"id-1\"")), "id", "more than once");
    invalid(structured(json("\"tenant\":null")), "tenant", "more than once");
    invalid(structured(json("\"x\":1", "\"x\":1")), "x", "more than once");
    invalid(structured(json("\"data\":1", "\"data\":1")), "data", "more than once");
    invalid(
        structured(json("\"data_base64\":null", "\"data_base64\":null")), "data_base64", "more");
  }

  @Test
  void brokenJsonIsInvalid() {
    invalid(structured(""), "value", "not a JSON object");
    invalid(structured("[]"), "value", "not a JSON object");
    invalid(structured("null"), "value", "not a JSON object");
    invalid(structured("{"), "value", "JSON");
    invalid(structured(json() + "{}"), "value", "follows");
    invalid(structured(json() + ","), "value", "JSON");
    invalid(structured(json("\"x\":NaN")), "value", "JSON");
    invalid(structured(json("\"x\":\"\n\"")), "value", "JSON");
    Submission.Refused refused = invalid(structured(json("\"x\":")), "value", "JSON");
    assertThat(refused.id()).isEqualTo("id-1");
    assertThat(refused.value()).isEqualTo(bytes(json("\"x\":")));
  }

  @Test
  void attributesOfTheWrongJsonTypeAreInvalid() {
    invalid(structured(json().replace("\"id-1\"", "5")), "id", "not a string");
    invalid(structured(json().replace("\"id-1\"", "{}")), "id", "neither");
    invalid(structured(json("\"time\":5")), "time", "not a string");
    invalid(structured(json().replace("\"acme\"", "[\"acme\"]")), "tenant", "neither");
    request(structured(json("\"other\":{\"a\":[1]}")));
  }

  @Test
  void eventFormatsThatNobodyReadsAreInvalid() {
    invalid(
        binary().header("content-type", "application/cloudevents-batch+json"),
        "content-type",
        "application/cloudevents-batch+json");
    invalid(
        binary().header("content-type", "application/cloudevents+avro"),
        "content-type",
        "application/cloudevents+json");
  }

  private Submission.Request request(RecordBuilder record) {
    Submission submission = reader.read(record.consumed(), 4);
    assertThat(submission).isInstanceOf(Submission.Request.class);
    return (Submission.Request) submission;
  }

  private Submission.Refused invalid(RecordBuilder record, String attribute, String problem) {
    Submission.Refused refused = invalid(record, problem);
    assertThat(refused.reason()).startsWith(attribute);
    return refused;
  }

  private Submission.Refused invalid(RecordBuilder record, String problem) {
    Submission submission = reader.read(record.consumed(), 4);
    assertThat(submission).isInstanceOf(Submission.Refused.class);
    Submission.Refused refused = (Submission.Refused) submission;
    assertThat(refused.decision()).isEqualTo(Decision.INVALID);
    assertThat(refused.reason()).contains(": ").contains(problem);
    assertThat(WireText.problem(refused.reason(), Limits.DETAIL_BYTES)).isNull();
    assertThat(refused.value()).isEqualTo(record.consumed().value());
    return refused;
  }
}
