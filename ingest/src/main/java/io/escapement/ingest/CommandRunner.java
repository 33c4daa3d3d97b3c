package io.escapement.ingest;

import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that turns the loop of commands.
 *
 * <p>Thread rule: start and close from any thread. Failure: what the loop does not survive (memory,
 * a bug beyond exceptions) ends the thread; the consumer leaves the group, so that others go on,
 * and health says {@link CommandHealth.State#FAILED}.
 */
final class CommandRunner implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(CommandRunner.class);

  /** A command in hand may wait for locks; the ledger ends its statement well within this. */
  private static final Duration CLOSE_LIMIT = Duration.ofMinutes(1);

  private final CommandLoop loop;
  private final Thread thread;
  private volatile boolean stopping;

  CommandRunner(CommandLoop loop) {
    this.loop = loop;
    this.thread = new Thread(this::run, "escapement-commands");
  }

  void start() {
    thread.start();
  }

  /** Lets the command in hand be decided, then leaves the group. */
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
        LOG.error("commands did not stop within {}; the fence keeps them safe", CLOSE_LIMIT);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    CommandHealth.State end = CommandHealth.State.CLOSED;
    try {
      while (!stopping) {
        loop.runOnce();
      }
    } catch (Throwable fault) {
      LOG.error("the execution of commands has ended", fault);
      loop.noteFault(fault);
      end = CommandHealth.State.FAILED;
    } finally {
      loop.close(end);
    }
  }
}
