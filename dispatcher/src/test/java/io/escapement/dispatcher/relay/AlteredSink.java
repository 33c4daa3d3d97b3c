package io.escapement.dispatcher.relay;

import io.escapement.ledger.OutboxEntry;

/** A sink that a test interferes with. */
final class AlteredSink extends ForwardingSink {

  private final Runnable beforeCommit;
  private final boolean forgetful;

  /**
   * A sink.
   *
   * @param beforeCommit what happens before events and position are committed
   * @param forgetful the guard taken out: what is to be sent again is not
   */
  AlteredSink(RelaySink sink, Runnable beforeCommit, boolean forgetful) {
    super(sink);
    this.beforeCommit = beforeCommit;
    this.forgetful = forgetful;
  }

  @Override
  public int append(OutboxEntry row, boolean repeated) {
    return repeated && forgetful ? 0 : super.append(row, repeated);
  }

  @Override
  public void commit(RelayPosition relayed) {
    beforeCommit.run();
    super.commit(relayed);
  }
}
