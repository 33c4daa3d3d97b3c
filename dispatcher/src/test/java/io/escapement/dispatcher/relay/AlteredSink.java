package io.escapement.dispatcher.relay;

import io.escapement.ledger.OutboxEntry;
import java.util.Optional;

/**
 * A sink that a test interferes with.
 *
 * @param beforeCommit what happens before events and position are committed
 * @param forgetful the guard taken out: what is to be sent again is not
 */
record AlteredSink(RelaySink sink, Runnable beforeCommit, boolean forgetful) implements RelaySink {
  @Override
  public Optional<RelayPosition> position() {
    return sink.position();
  }

  @Override
  public int append(OutboxEntry row, boolean repeated) {
    return repeated && forgetful ? 0 : sink.append(row, repeated);
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
    beforeCommit.run();
    sink.commit(relayed);
  }

  @Override
  public void close() {
    sink.close();
  }
}
