package io.escapement.ingest;

import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that turns the loop.
 *
 * <p>Thread rule: start and close from any thread. Failure: what the loop does not survive (memory,
 * a bug beyond exceptions) ends the thread; the consumer leaves the group, so that others go on,
 * and health says {@link IngestHealth.State#FAILED}.
 */
final class IngestRunner implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(IngestRunner.class);

  /** A batch in hand may wait for locks; the ledger ends its statement well within this. */
  private static final Duration CLOSE_LIMIT = Duration.ofMinutes(1);

  private final String name;
  private final IngestLoop loop;
  private final Thread thread;
  private volatile boolean stopping;

  IngestRunner(String name, IngestLoop loop) {
    this.name = name;
    this.loop = loop;
    this.thread = new Thread(this::run, "escapement-" + name);
  }

  void start() {
    thread.start();
  }

  /** Lets the batch in hand be decided, then leaves the group. */
  @Override
  public void close() {
    stopping = true;
    if (thread.getState() == Thread.State.NEW) {
      loop.close();
      return;
    }
    loop.wakeup();
    try {
      if (!thread.join(CLOSE_LIMIT)) {
        LOG.error("{} did not stop within {}; the fence keeps its batch safe", name, CLOSE_LIMIT);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    IngestHealth.State end = IngestHealth.State.CLOSED;
    try {
      while (!stopping) {
        loop.runOnce();
      }
    } catch (Throwable fault) {
      LOG.error("{} has ended", name, fault);
      loop.noteFault(fault);
      end = IngestHealth.State.FAILED;
    } finally {
      loop.close(end);
    }
  }
}
