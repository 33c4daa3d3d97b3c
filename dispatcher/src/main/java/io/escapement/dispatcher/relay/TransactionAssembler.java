package io.escapement.dispatcher.relay;

import io.escapement.ledger.Lsn;
import io.escapement.ledger.OutboxEntry;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.source.SourceRecord;
import org.jspecify.annotations.Nullable;

/**
 * Puts Debezium's records together to transactions with their commit LSN.
 *
 * <p>A row's own record tells where the <em>row</em> is in the log, and the commit before it; both
 * depend on who else was writing. What orders transactions is their own commit, and Debezium tells
 * it in the record that ends a transaction ({@code provide.transaction.metadata}): pgoutput sends
 * COMMIT with the end of the commit record as its position, and Debezium keeps that in the record's
 * offset as {@code lsn_commit}. So rows are held until their transaction's end.
 *
 * <pre>
 *   written   A.row  B.row  B.commit  A.commit        A took its id before B, and commits after it
 *   streamed  B.begin B.row B.end(lsn of B.commit)  A.begin A.row A.end(lsn of A.commit)
 * </pre>
 *
 * <p>Cost: the rows of one transaction in memory. Thread rule: one thread. Failure: a record that
 * makes no sense is an {@link IllegalStateException}; going on would lose it.
 */
final class TransactionAssembler {

  private final String transactionTopic;
  private final String outboxTopic;
  private final List<OutboxEntry> open = new ArrayList<>();

  TransactionAssembler(String transactionTopic, String outboxTopic) {
    this.transactionTopic = transactionTopic;
    this.outboxTopic = outboxTopic;
  }

  /** Takes a record; returns the transaction that it ends. */
  Optional<OutboxTransaction> add(SourceRecord record) {
    if (outboxTopic.equals(record.topic())) {
      open.add(entry((Struct) record.value()));
      return Optional.empty();
    }
    if (!transactionTopic.equals(record.topic()) || !endsTransaction(record)) {
      return Optional.empty();
    }
    Object commit = record.sourceOffset().get("lsn_commit");
    if (!(commit instanceof Long lsn)) {
      throw new IllegalStateException("a transaction ended without a commit position: " + record);
    }
    OutboxTransaction transaction = new OutboxTransaction(new Lsn(lsn), open);
    open.clear();
    return Optional.of(transaction);
  }

  private static boolean endsTransaction(SourceRecord record) {
    String status = ((Struct) record.value()).getString("status");
    if (!"END".equals(status)) {
      return false;
    }
    // Debezium can also end a transaction because another begins; that record's offset would name
    // an earlier commit.
    Object message = record.sourceOffset().get("messageType");
    if (!"COMMIT".equals(message)) {
      throw new IllegalStateException("a transaction ended without its commit: " + record);
    }
    return true;
  }

  private static OutboxEntry entry(Struct envelope) {
    String operation = envelope.getString("op");
    Struct row = envelope.getStruct("after");
    if (!"c".equals(operation) || row == null) {
      throw new IllegalStateException("the outbox was streamed with operation " + operation);
    }
    @Nullable Long id = row.getInt64("id");
    @Nullable String createdAt = row.getString("created_at");
    @Nullable String events = row.getString("events");
    if (id == null || createdAt == null || events == null) {
      throw new IllegalStateException("an outbox row was streamed with null in it: " + row);
    }
    Instant created = OffsetDateTime.parse(createdAt).toInstant();
    return new OutboxEntry(id, created, events);
  }
}
