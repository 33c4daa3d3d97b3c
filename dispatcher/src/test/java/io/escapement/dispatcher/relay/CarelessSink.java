package io.escapement.dispatcher.relay;

import io.escapement.ledger.OutboxEntry;
import java.util.Optional;

/**
 * The guard taken out: the position in a transaction of its own.
 *
 * @param between what happens between the two
 */
record CarelessSink(RelaySink sink, Runnable between) implements RelaySink {
  @Override
  public Optional<RelayPosition> position() {
    return sink.position();
  }

  @Override
  public int append(OutboxEntry row, boolean repeated) {
    return sink.append(row, repeated);
  }

  @Override
  public void appendReload(String queue) {
    sink.appendReload(queue);
  }

  @Override
  public void commit() {
    sink.commit();
  }

  @Override
  public void commit(RelayPosition relayed) {
    sink.commit();
    if (relayed.index() > 0) {
      between.run();
    }
    sink.commit(relayed);
  }

  @Override
  public void close() {
    sink.close();
  }
}
