package io.escapement.dispatcher.relay;

/** The guard taken out: the position in a transaction of its own. */
final class CarelessSink extends ForwardingSink {

  private final Runnable between;

  /**
   * A sink without the guard.
   *
   * @param between what happens between the two
   */
  CarelessSink(RelaySink sink, Runnable between) {
    super(sink);
    this.between = between;
  }

  @Override
  public void commit(RelayPosition relayed) {
    sink.commit();
    if (relayed.index() > 0) {
      between.run();
    }
    sink.commit(relayed);
  }
}
