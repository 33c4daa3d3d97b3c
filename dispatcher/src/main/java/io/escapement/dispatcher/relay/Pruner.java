package io.escapement.dispatcher.relay;

import io.escapement.ledger.Lsn;
import io.escapement.ledger.Prunable;
import io.escapement.ledger.RelaySession;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Deletes rows that are past the grace time and known to be relayed.
 *
 * <p>Known how? Ids don't tell (they are taken before the commit), and what this process has sent
 * it forgets when it dies. But rows that a query <em>sees</em> were committed before the end of the
 * log at that moment; once the relay has passed that end, they are relayed. So rows are noted
 * together with the end of the log, and deleted when the position is beyond it.
 *
 * <p>Cost: two statements a batch. Thread rule: one thread.
 */
final class Pruner {

  /** While there is a backlog, so many batches in one go. */
  private static final int BATCHES = 4;

  private static final Duration LOOK_INTERVAL = Duration.ofSeconds(1);

  private final RelaySession session;
  private final Duration grace;
  private final int rows;
  private @Nullable Prunable noted;
  private long nextLookNanos = System.nanoTime();

  Pruner(RelaySession session, Duration grace, int rows) {
    this.session = session;
    this.grace = grace;
    this.rows = rows;
  }

  /**
   * Does what can be done now.
   *
   * @param relayed everything up to here is in Kafka
   * @return how many rows were deleted
   */
  long runOnce(Lsn relayed) {
    long deleted = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
      Prunable waiting = noted;
      if (waiting == null) {
        waiting = look();
      }
      if (waiting == null || waiting.written().compareTo(relayed) > 0) {
        return deleted;
      }
      deleted += session.prune(waiting.ids());
      noted = null;
      if (waiting.ids().size() == rows) {
        nextLookNanos = System.nanoTime();
      }
    }
    return deleted;
  }

  /**
   * Whether rows wait for the relay to pass a point, which on an idle database nothing else does.
   */
  boolean needsProgress() {
    return noted != null;
  }

  private @Nullable Prunable look() {
    if (System.nanoTime() - nextLookNanos < 0) {
      return null;
    }
    nextLookNanos = System.nanoTime() + LOOK_INTERVAL.toNanos();
    Prunable found = session.prunable(grace, rows);
    noted = found.ids().isEmpty() ? null : found;
    return noted;
  }
}
