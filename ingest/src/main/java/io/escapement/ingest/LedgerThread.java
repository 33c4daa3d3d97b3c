package io.escapement.ingest;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The thread that waits for the ledger, so that the consumer's thread never does. What it is given
 * is done one after the other, in that order.
 *
 * <p>Thread rule: one thread gives and closes. Failure: is the {@link Pending}'s.
 */
final class LedgerThread implements AutoCloseable {

  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(
          work -> {
            Thread one = new Thread(work, "escapement-ingest-ledger");
            one.setDaemon(true);
            return one;
          });

  /**
   * Has something done.
   *
   * @param shares what it is about, for who looks at the result
   */
  <T> Pending<T> submit(Callable<T> work, Collection<PositionedShare> shares) {
    return new Pending<>(thread.submit(work), List.copyOf(shares));
  }

  /** Ends the thread after what it has in hand. */
  @Override
  public void close() {
    thread.shutdown();
  }
}
