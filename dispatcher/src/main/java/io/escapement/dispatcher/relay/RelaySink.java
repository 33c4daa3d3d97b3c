package io.escapement.dispatcher.relay;

import io.escapement.ledger.OutboxEntry;
import java.util.Optional;

/**
 * Where rows go: transactions in Kafka. After any exception the sink is of no use; a new one finds
 * out by its position what became of the last transaction.
 */
interface RelaySink extends AutoCloseable {

  /** The position that was committed last, read after all other relays have been fenced. */
  Optional<RelayPosition> position();

  /**
   * Adds a row's events to the open transaction; begins one if there is none.
   *
   * @return how many events
   */
  int append(OutboxEntry row, boolean repeated);

  /**
   * Adds to the open transaction, for every partition of a queue's dispatch topic, the word that
   * whoever listens must ask the ledger anew; nothing if there is no such topic.
   */
  void appendReload(String queue);

  /**
   * Commits the open transaction, if there is one, without saying how far the outbox is relayed.
   */
  void commit();

  /** Adds the position to the open transaction, or to a new one, and commits it. */
  void commit(RelayPosition position);

  @Override
  void close();
}
