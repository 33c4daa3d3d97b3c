package io.escapement.dispatcher.relay;

import io.escapement.ledger.OutboxEntry;
import java.util.Optional;

/** Another sink, for tests that change one thing about it. */
abstract class ForwardingSink implements RelaySink {

  final RelaySink sink;

  ForwardingSink(RelaySink sink) {
    this.sink = sink;
  }

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
    sink.commit(relayed);
  }

  @Override
  public void close() {
    sink.close();
  }
}
