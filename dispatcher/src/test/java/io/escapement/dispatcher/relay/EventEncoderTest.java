package io.escapement.dispatcher.relay;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.ledger.OutboxEntry;
import io.escapement.ledger.TopicNames;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.junit.jupiter.api.Test;

class EventEncoderTest {

  private static final UUID LEDGER = UUID.fromString("01234567-89ab-cdef-0123-456789abcdef");
  private static final Instant WRITTEN = Instant.parse("2026-01-02T03:04:05.678901Z");

  private final EventEncoder encoder = new EventEncoder(new TopicNames("e"), LEDGER, topic -> 5);

  @Test
  void aReceiptIsACloudEventUnderItsIdentity() {
    ProducerRecord<byte[], byte[]> record =
        only("R\taccepted\te.requests\t3\t42\tacme\tremind\torders\to-1\t\\N\t7:SCHEDULED,8:DONE");
    assertThat(record.topic()).isEqualTo("e.receipts");
    assertThat(record.partition()).isNull();
    assertThat(text(record.key())).isEqualTo("orders|o-1");
    assertThat(headers(record))
        .containsEntry("ce_specversion", "1.0")
        .containsEntry("ce_id", "17-0")
        .containsEntry("ce_source", "/escapement/" + LEDGER)
        .containsEntry("ce_type", "io.escapement.receipt.accepted")
        .containsEntry("ce_time", "2026-01-02T03:04:05.678901Z")
        .containsEntry("content-type", "application/json")
        .doesNotContainKey("ce_repeated");
    assertThat(text(record.value()))
        .isEqualTo(
            "{\"decision\":\"accepted\",\"topic\":\"e.requests\",\"partition\":3,\"offset\":42,"
                + "\"tenant\":\"acme\",\"kind\":\"remind\",\"source\":\"orders\",\"id\":\"o-1\","
                + "\"tasks\":[{\"task\":7,\"state\":\"SCHEDULED\"},{\"task\":8,\"state\":\"DONE\"}]}");
  }

  @Test
  void aReceiptWithoutIdentityIsKeyedByItsRecord() {
    ProducerRecord<byte[], byte[]> record =
        only("R\tinvalid\te.requests\t3\t42\t\\N\t\\N\t\\N\t\\N\tid: missing\t\\N");
    assertThat(text(record.key())).isEqualTo("e.requests-3-42");
    assertThat(text(record.value()))
        .isEqualTo(
            "{\"decision\":\"invalid\",\"topic\":\"e.requests\",\"partition\":3,\"offset\":42,"
                + "\"reason\":\"id: missing\",\"tasks\":[]}");
  }

  @Test
  void aCommandsReceiptTellsWhatWasDone() {
    ProducerRecord<byte[], byte[]> record =
        only(
            "C\texecuted\te.commands\t0\t42\tredrive_all\t/ops\tc-1\t\\N\t2"
                + "\t7/0\tREDRIVEN\tkind a\\tb\tDONE");
    assertThat(record.topic()).isEqualTo("e.receipts");
    assertThat(text(record.key())).isEqualTo("/ops|c-1");
    assertThat(headers(record))
        .containsEntry("ce_type", "io.escapement.receipt.command.executed")
        .containsEntry("ce_id", "17-0");
    assertThat(text(record.value()))
        .isEqualTo(
            "{\"decision\":\"executed\",\"topic\":\"e.commands\",\"partition\":0,\"offset\":42,"
                + "\"command\":\"redrive_all\",\"source\":\"/ops\",\"id\":\"c-1\","
                + "\"results\":[{\"target\":\"7/0\",\"result\":\"REDRIVEN\"},"
                + "{\"target\":\"kind a\\tb\",\"result\":\"DONE\"}]}");
  }

  @Test
  void aCommandsReceiptWithoutIdentityIsKeyedByItsRecord() {
    ProducerRecord<byte[], byte[]> record =
        only("C\tinvalid\te.commands\t0\t42\t\\N\t\\N\t\\N\tid: missing\t0");
    assertThat(text(record.key())).isEqualTo("e.commands-0-42");
    assertThat(headers(record)).containsEntry("ce_type", "io.escapement.receipt.command.invalid");
    assertThat(text(record.value()))
        .isEqualTo(
            "{\"decision\":\"invalid\",\"topic\":\"e.commands\",\"partition\":0,\"offset\":42,"
                + "\"reason\":\"id: missing\",\"results\":[]}");
  }

  @Test
  void aHintGoesToThePartitionThatOwnsItsSlot() {
    ProducerRecord<byte[], byte[]> record = only("D\tmail\t99\tacme\t203\t1700000000000000");
    assertThat(record.topic()).isEqualTo("e.dispatch.mail");
    assertThat(record.partition()).as("203 mod 5").isEqualTo(3);
    assertThat(text(record.key())).isEqualTo("99");
    assertThat(headers(record)).containsEntry("ce_type", "io.escapement.dispatch.hint");
    assertThat(text(record.value()))
        .isEqualTo(
            "{\"task\":99,\"tenant\":\"acme\",\"slot\":203,\"dueAt\":\"2023-11-14T22:13:20Z\"}");
  }

  @Test
  void anOutcomeTellsTheChange() {
    ProducerRecord<byte[], byte[]> record =
        only("O\tfailed\t99\torders\to\\t1\tacme\tremind\tlocal\t2\tPOISONED\tline\\nbreak");
    assertThat(record.topic()).isEqualTo("e.outcomes");
    assertThat(text(record.key())).isEqualTo("orders|o\t1");
    assertThat(headers(record)).containsEntry("ce_type", "io.escapement.task.failed");
    assertThat(text(record.value()))
        .isEqualTo(
            "{\"change\":\"failed\",\"task\":99,\"source\":\"orders\",\"id\":\"o\\t1\","
                + "\"tenant\":\"acme\",\"kind\":\"remind\",\"channel\":\"local\",\"attempt\":2,"
                + "\"observation\":\"POISONED\",\"detail\":\"line\\nbreak\"}");
  }

  @Test
  void aDeadLetterKeepsItsFormAndSaysWhereItCameFrom() {
    // key "k", one header h=v, value "raw"
    String envelope = "AAAAAWsAAAABAAAAAWgAAAABdg==";
    ProducerRecord<byte[], byte[]> record =
        only("X\te.requests\t1\t5\tnot a CloudEvent\t" + envelope + "\tcmF3\tkept");
    assertThat(record.topic()).isEqualTo("e.dead-letters");
    assertThat(text(record.key())).isEqualTo("k");
    assertThat(text(record.value())).isEqualTo("raw");
    assertThat(headers(record))
        .containsExactly(
            Map.entry("h", "v"),
            Map.entry("escapement_reason", "not a CloudEvent"),
            Map.entry("escapement_topic", "e.requests"),
            Map.entry("escapement_partition", "1"),
            Map.entry("escapement_offset", "5"));
  }

  @Test
  void eventsOfARowAreNumberedAndRepeatedOnesAreMarked() {
    List<ProducerRecord<byte[], byte[]>> records =
        encode("D\tmail\t1\ta\t0\t0\nD\tmail\t2\ta\t1\t0\n", true);
    assertThat(records).hasSize(2);
    assertThat(records.stream().map(record -> headers(record).get("ce_id")))
        .containsExactly("17-0", "17-1");
    assertThat(records).allMatch(record -> "true".equals(headers(record).get("ce_repeated")));
  }

  private ProducerRecord<byte[], byte[]> only(String packed) {
    List<ProducerRecord<byte[], byte[]>> records = encode(packed, false);
    assertThat(records).hasSize(1);
    return records.getFirst();
  }

  private List<ProducerRecord<byte[], byte[]>> encode(String packed, boolean repeated) {
    List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
    int events = encoder.encode(new OutboxEntry(17, WRITTEN, packed), repeated, records::add);
    assertThat(events).isEqualTo(records.size());
    return records;
  }

  private static Map<String, String> headers(ProducerRecord<byte[], byte[]> record) {
    Map<String, String> headers = new LinkedHashMap<>();
    for (Header header : record.headers()) {
      headers.put(header.key(), text(header.value()));
    }
    return headers;
  }

  private static String text(byte[] bytes) {
    return new String(bytes, UTF_8);
  }
}
