package io.escapement.ingest;

import static io.escapement.ingest.RecordBuilder.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.ledger.CommandDecision;
import io.escapement.ledger.CommandRecord;
import io.escapement.ledger.Limits;
import io.escapement.ledger.PartitionKey;
import io.escapement.ledger.PositionAdvance;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

class CommandReaderTest {

  private static final int LIMIT = 262_144;
  private static final PositionAdvance POSITION =
      new PositionAdvance(new PartitionKey("commands", new UUID(1, 2), 0), 7L, 8);
  private static final String ARGUMENTS = "{\"scope\":\"kind\",\"name\":\"x\"}";

  private final CommandReader reader = new CommandReader(LIMIT);

  @Test
  void binaryModeHasTheArgumentsInTheValue() {
    CommandRecord.Command command = command(binary(ARGUMENTS));
    assertThat(command.source()).isEqualTo("/ops");
    assertThat(command.id()).isEqualTo("c-1");
    assertThat(command.type()).isEqualTo("pause");
    assertThat(command.data()).isEqualTo(ARGUMENTS);
    assertThat(command.position()).isEqualTo(POSITION);
    assertThat(command.value()).isEqualTo(bytes(ARGUMENTS));
    assertThat(command(binary(ARGUMENTS).header("content-type", "Application/JSON; charset=utf-8")))
        .extracting(CommandRecord.Command::data)
        .isEqualTo(ARGUMENTS);
  }

  @Test
  void structuredModeHasTheArgumentsInAMember() {
    String long64k = "é".repeat(64_000);
    for (String data :
        List.of(
            ARGUMENTS,
            "{}",
            "{ \"name\" : \"\\u0000\" , \"n\" : 1e5 } ".strip(),
            "[1, 2]",
            "\"text \\\" more\"",
            "17",
            "-0.5e10",
            "true",
            "{\"reason\":\"" + long64k + "\"}")) {
      String json = structured("\"data\" : " + data + " , \"later\":\"x\"");
      assertThat(command(RecordBuilder.structured(json)).data()).isEqualTo(data);
      assertThat(command(RecordBuilder.structured(structured("\"data\":" + data))).data())
          .isEqualTo(data);
    }
    String base64 = Base64.getEncoder().encodeToString(bytes(ARGUMENTS));
    assertThat(
            command(
                    RecordBuilder.structured(structured("\"data_base64\":\"" + base64 + "\""))
                        .key(null))
                .data())
        .isEqualTo(ARGUMENTS);
  }

  @Test
  void aRecordWithoutHeadersThatLooksLikeAnEventIsOne() {
    assertThat(
            command(RecordBuilder.bare().value(bytes(structured("\"data\":" + ARGUMENTS)))).data())
        .isEqualTo(ARGUMENTS);
  }

  @Test
  void whatCannotBeACommandIsRefusedWithTheAttribute() {
    refused(binary(ARGUMENTS).value(null), "value: null");
    refused(binary(ARGUMENTS).without("ce_id"), "id: missing");
    refused(binary(ARGUMENTS).with("ce_source", "escapement:x"), "source: sources that start with");
    refused(binary(ARGUMENTS).header("ce_id", "again"), "id: given more than once");
    refused(binary(ARGUMENTS).with("ce_specversion", "0.3"), "specversion: '0.3' is not '1.0'");
    refused(binary(ARGUMENTS).with("ce_type", ""), "type: ");
    refused(binary(ARGUMENTS).header("ce_subject", (byte[]) null), "subject: null");
    refused(binary(ARGUMENTS).value(new byte[] {'{', (byte) 0xff, '}'}), "data: not UTF-8");
    refused(binary("{\"a\":\"\0\"}"), "data: has the control character U+0000");
    refused(
        binary(ARGUMENTS).header("content-type", "text/plain"),
        "datacontenttype: 'text/plain' is not application/json");
    refused(RecordBuilder.structured(structured("\"data\":null")), "data: missing");
    refused(RecordBuilder.structured(structured("\"subject\":\"s\"")), "data: missing");
    refused(
        RecordBuilder.structured(structured("\"data\":{},\"data\":{}")),
        "data: given more than once");
    refused(RecordBuilder.structured("{"), "value: not well-formed JSON");
    refused(RecordBuilder.structured(structured("\"data_base64\":\"/w==\"")), "data: not UTF-8");
    refused(
        RecordBuilder.structured(structured("\"data\":" + "[".repeat(2_000) + "]".repeat(2_000))),
        "value: JSON nested deeper than 1000 levels");
  }

  @Test
  void aValueBeyondTheLimitIsRefusedUnread() {
    CommandRecord.Refused refused = refused(binary("x".repeat(LIMIT + 1)), "value: 262145 bytes");
    assertThat(refused.decision()).isEqualTo(CommandDecision.OVERSIZE);
    assertThat(refused.id()).isEqualTo("c-1");
    assertThat(refused.value()).isNull();
  }

  @Test
  void hostileRecordsAreCommandsOrRefusedWithASoundReason() {
    long seed = Long.getLong("seed", System.nanoTime());
    HostileRecords records = new HostileRecords(seed);
    for (int i = 0; i < 20_000; i++) {
      CommandRecord read = reader.read(records.next(i).consumed(), POSITION);
      if (read instanceof CommandRecord.Refused refused) {
        assertThat(refused.reason()).as("seed %d, record %d", seed, i).doesNotStartWith("record: ");
        assertThat(WireText.problem(refused.reason(), Limits.DETAIL_BYTES))
            .as("seed %d, record %d", seed, i)
            .isNull();
      }
    }
  }

  private CommandRecord.Command command(RecordBuilder record) {
    CommandRecord read = read(record);
    assertThat(read).isInstanceOf(CommandRecord.Command.class);
    return (CommandRecord.Command) read;
  }

  private CommandRecord.Refused refused(RecordBuilder record, String reason) {
    CommandRecord read = read(record);
    assertThat(read).as(reason).isInstanceOf(CommandRecord.Refused.class);
    CommandRecord.Refused refused = (CommandRecord.Refused) read;
    assertThat(refused.reason()).startsWith(reason);
    return refused;
  }

  private CommandRecord read(RecordBuilder record) {
    ConsumerRecord<byte[], byte[]> consumed = record.topic("commands").consumed();
    return reader.read(consumed, POSITION);
  }

  private static RecordBuilder binary(String data) {
    return RecordBuilder.binary()
        .without("ce_tenant")
        .with("ce_id", "c-1")
        .with("ce_source", "/ops")
        .with("ce_type", "pause")
        .value(bytes(data));
  }

  private static String structured(String member) {
    return "{\"specversion\":\"1.0\",\"id\":\"c-1\",\"source\":\"/ops\",\"type\":\"pause\","
        + member
        + "}";
  }
}
