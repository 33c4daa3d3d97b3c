package io.escapement.dispatcher;

import io.escapement.ledger.Forgotten;
import io.escapement.ledger.Ledger;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Lets the ledger forget what ended before the replay window: batch after batch while there is
 * something, then once a minute. Several dispatchers give way to each other in the ledger.
 */
final class Forgetter {

  private static final int BATCH = 1_000;
  private static final Duration PAUSE = Duration.ofMinutes(1);
  private static final long NAP_MILLIS = 500;

  private final Ledger ledger;
  private long nextNanos = System.nanoTime();

  Forgetter(Ledger ledger) {
    this.ledger = ledger;
  }

  /** Forgets one batch, or waits a little for the time to do so. */
  int runOnce() throws InterruptedException {
    if (nextNanos - System.nanoTime() > 0) {
      TimeUnit.MILLISECONDS.sleep(NAP_MILLIS);
      return 0;
    }
    Forgotten forgotten = ledger.forget(BATCH);
    if (forgotten.atEnd()) {
      nextNanos = System.nanoTime() + PAUSE.toNanos();
    }
    return Math.toIntExact(forgotten.intents());
  }
}
