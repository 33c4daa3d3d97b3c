package io.escapement.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;

class OutboxRowTest {

  @Test
  void everyKindOfEventIsUnpackedInOrder() {
    RecordEnvelope envelope =
        new RecordEnvelope(
            "key".getBytes(StandardCharsets.UTF_8), List.of(new RecordEnvelope.Header("h", null)));
    String row =
        String.join(
            "\n",
            "R\taccepted\trequests\t3\t41\tacme\twork\t/shop\ta\\tb\t\\N\t7:SCHEDULED,8:DONE\t1500",
            "D\tdefault\t7\tacme\t200\t1500000",
            "O\tdone\t7\t/shop\ta\tacme\twork\tlocal\t2\tCOMPLETED\t\\N",
            "X\trequests\t3\t42\tid: missing\t"
                + Base64.getEncoder().encodeToString(envelope.encode())
                + "\t"
                + Base64.getEncoder().encodeToString(new byte[] {0, 1})
                + "\twhole");
    List<OutboxEvent> events = OutboxRow.parse(row);
    assertThat(events.get(0))
        .isEqualTo(
            new OutboxEvent.Receipt(
                Decision.ACCEPTED,
                "requests",
                3,
                41,
                "acme",
                "work",
                "/shop",
                "a\tb",
                null,
                List.of(
                    new OutboxEvent.Receipt.TaskState(7, "SCHEDULED"),
                    new OutboxEvent.Receipt.TaskState(8, "DONE")),
                Duration.ofMillis(1500)));
    assertThat(events.get(1))
        .isEqualTo(new OutboxEvent.Hint("default", 7, "acme", 200, Instant.ofEpochMilli(1500)));
    assertThat(events.get(2))
        .isEqualTo(
            new OutboxEvent.Outcome(
                "done", 7, "/shop", "a", "acme", "work", "local", 2, "COMPLETED", null, false));
    assertThat(events.get(3))
        .isInstanceOfSatisfying(
            OutboxEvent.DeadLetter.class,
            x -> {
              assertThat(x.value()).containsExactly(0, 1);
              assertThat(x.envelope().headers()).hasSize(1);
              assertThat(x.withheld()).isFalse();
            });
  }

  @Test
  void aCommandsReceiptHasItsResultsInPairs() {
    String row = "C\texecuted\tcommands\t0\t9\tcancel\t/ops\t\\N\t\\N\t2\ta\\tb\tTOO_LATE\t\tX";
    assertThat(OutboxRow.parse(row + "\n" + "D\tq\t1\tt\t0\t0").getFirst())
        .isEqualTo(
            new OutboxEvent.CommandReceipt(
                CommandDecision.EXECUTED,
                "commands",
                0,
                9,
                "cancel",
                "/ops",
                null,
                null,
                List.of(new CommandResult("a\tb", "TOO_LATE"), new CommandResult("", "X"))));
  }

  @Test
  void escapesStandForTheCharactersThatSeparate() {
    String row = "D\ta\\\\N\\nb\\r\t1\t\\\\\t0\t0";
    assertThat(OutboxRow.parse(row))
        .containsExactly(new OutboxEvent.Hint("a\\N\nb\r", 1, "\\", 0, Instant.EPOCH));
  }

  @Test
  void whatIsNotAnOutboxRowIsRefused() {
    assertThatThrownBy(() -> OutboxRow.parse("Z\t1")).hasMessageContaining("'Z'");
    assertThatThrownBy(() -> OutboxRow.parse("D\tdefault\t7"))
        .hasMessageContaining("lacks a field");
    assertThatThrownBy(() -> OutboxRow.parse("D\t\\N\t7\ta\t0\t0"))
        .hasMessageContaining("null in a field");
  }
}
