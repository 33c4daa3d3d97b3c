package io.escapement.dispatcher;

import io.escapement.ledger.Ledger;
import io.escapement.ledger.UnservedLane;
import io.escapement.ledger.WorkFilter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks now and then for due tasks of the queues that this process has no handler for: they are
 * never claimed and never failed, so somebody has to be told.
 *
 * <p>Cost: one statement a queue every half minute. Thread rule: {@link #runOnce} on one thread,
 * {@link #seen} from any.
 */
final class UnservedWatch {

  private static final Logger LOG = LoggerFactory.getLogger(UnservedWatch.class);
  private static final Duration EVERY = Duration.ofSeconds(30);

  /** A stop waits no longer for it. */
  private static final long LOOK_MILLIS = 500;

  private final Ledger ledger;
  private final List<String> queues;
  private final WorkFilter work;
  private volatile List<String> seen = List.of();
  private long next = System.nanoTime();

  UnservedWatch(Ledger ledger, List<String> queues, WorkFilter work) {
    this.ledger = ledger;
    this.queues = queues;
    this.work = work;
  }

  /** What was found last, a line a kind and channel. */
  List<String> seen() {
    return seen;
  }

  /** Looks if it is time; else waits a little. */
  int runOnce() throws InterruptedException {
    if (System.nanoTime() - next < 0) {
      TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
      return 0;
    }
    next = System.nanoTime() + EVERY.toNanos();
    List<String> found = new ArrayList<>();
    for (String queue : queues) {
      for (UnservedLane one : ledger.unserved(queue, work)) {
        found.add(
            "queue %s, kind %s, channel %s"
                .formatted(queue, one.lane().kind(), one.lane().channel()));
      }
    }
    if (!found.equals(seen)) {
      if (!found.isEmpty()) {
        LOG.warn("no_handler: due, and this process has no handler for it: {}", found);
      }
      seen = List.copyOf(found);
    }
    return found.size();
  }
}
