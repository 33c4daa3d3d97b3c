package io.escapement.dispatcher.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.RecordChangeEvent;
import io.escapement.ledger.Lsn;
import io.escapement.ledger.OutboxEntry;
import io.escapement.ledger.TestLedger;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.connect.source.SourceRecord;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the stream says about where transactions end, held against PostgreSQL's own decoding. */
class OutboxStreamPostgresTest {

  private static final String SLOT = "stream_test";
  private static final String WITNESS = "stream_test_witness";

  private TestLedger ledger;
  private final List<OutboxTransaction> received = new CopyOnWriteArrayList<>();

  @BeforeEach
  void open() {
    ledger = TestLedger.create();
    for (String slot : List.of(SLOT, WITNESS)) {
      ledger.column("select pg_create_logical_replication_slot('" + slot + "', 'pgoutput')");
    }
  }

  @AfterEach
  void close() {
    RelayHarness.dropSlot(ledger, SLOT);
    RelayHarness.dropSlot(ledger, WITNESS);
    ledger.close();
  }

  @Test
  void transactionsCarryTheEndOfTheirOwnCommitRecordInCommitOrder() throws Exception {
    try (OutboxWriter early = new OutboxWriter(ledger, "early");
        OutboxWriter late = new OutboxWriter(ledger, "late")) {
      early.write(1);
      long begunFirst = early.insert(1);
      late.insert(2);
      long second = late.insert(1);
      late.commit();
      ledger.column("select pg_logical_emit_message(true, 'somebody', 'else')");
      ledger.column("select pg_logical_emit_message(false, 'outside', 'any transaction')");
      early.commit();
      rollBackToSavepoint();
      late.write(1);
      assertThat(begunFirst).isLessThan(second);
    }
    try (OutboxStream stream = stream()) {
      stream.start();
      Awaitility.await().atMost(RelayHarness.PATIENCE).until(() -> received.size() >= 6);
    }
    assertThat(received.stream().map(OutboxTransaction::commit).toList())
        .isEqualTo(commitsByPostgres())
        .isSorted()
        .doesNotHaveDuplicates();
    assertThat(received.stream().map(OutboxStreamPostgresTest::ids).toList())
        .as("2 was committed after 3 and 4; 6 was rolled back")
        .containsExactly(
            List.of(1L), List.of(3L, 4L), List.of(), List.of(2L), List.of(5L, 7L), List.of(8L));
  }

  /** A transaction with a part that never became true, and a message that needs no commit. */
  private void rollBackToSavepoint() {
    ledger.execute(
        """
        begin;
        insert into escapement.outbox (events) values ('');
        savepoint here;
        insert into escapement.outbox (events) values ('');
        select pg_logical_emit_message(false, 'inside', 'a transaction');
        rollback to here;
        insert into escapement.outbox (events) values ('');
        commit;
        """);
  }

  /** Ends of the commit records: bytes 10 to 17 of pgoutput's COMMIT message. */
  private List<Lsn> commitsByPostgres() {
    return ledger
        .column(
            "select '0/0'::pg_lsn + ('x' || encode(substr(data, 11, 8), 'hex'))::bit(64)::bigint"
                + " from pg_logical_slot_peek_binary_changes('"
                + WITNESS
                + "', null, null, 'proto_version', '1', 'publication_names', 'escapement_outbox',"
                + " 'messages', 'true')"
                + " where substr(data, 1, 1) = 'C'::bytea")
        .stream()
        .map(Lsn::parse)
        .toList();
  }

  private static List<Long> ids(OutboxTransaction transaction) {
    return transaction.rows().stream().map(OutboxEntry::id).toList();
  }

  private OutboxStream stream() {
    RelayConfig config =
        new RelayConfig(
            ledger.config(),
            Map.of("bootstrap.servers", "unused:1"),
            io.escapement.ledger.TopicNames.standard(),
            SLOT,
            RelayTuning.DEFAULT);
    TransactionAssembler assembler =
        new TransactionAssembler(StreamSettings.TRANSACTION_TOPIC, StreamSettings.OUTBOX_TOPIC);
    DebeziumEngine.ChangeConsumer<RecordChangeEvent<SourceRecord>> consumer =
        (records, committer) -> {
          for (RecordChangeEvent<SourceRecord> record : records) {
            assembler.add(record.record()).ifPresent(received::add);
          }
          committer.markBatchFinished();
        };
    return new OutboxStream(
        StreamSettings.of(config), Duration.ofSeconds(10), consumer, () -> true, ended -> {});
  }
}
