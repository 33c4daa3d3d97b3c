package io.escapement.dispatcher;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a body over and over on a thread of its own. Any one failure is survived: logged, counted in
 * the health, and followed by a wait that doubles up to a bound.
 */
final class Loop implements AutoCloseable {

  /** One turn of a loop. */
  @FunctionalInterface
  interface Body {
    /**
     * Does what there is to do, or waits a bounded time for it.
     *
     * @return how much was done
     */
    int runOnce() throws InterruptedException;
  }

  private static final Logger LOG = LoggerFactory.getLogger(Loop.class);
  private static final Duration FIRST_BACKOFF = Duration.ofMillis(50);
  private static final Duration LONGEST_BACKOFF = Duration.ofSeconds(5);
  private static final Duration STOP_LIMIT = Duration.ofSeconds(10);

  private final String name;
  private final Health health;
  private final CountDownLatch stop = new CountDownLatch(1);
  private final Thread thread;

  private Loop(String name, Health health, Body body, Runnable atEnd) {
    this.name = name;
    this.health = health;
    this.thread = new Thread(() -> run(body, atEnd), name);
  }

  /** Starts a loop. */
  static Loop start(String name, Health health, Body body) {
    return start(name, health, body, () -> {});
  }

  /** Starts a loop with something to be done on its thread when it ends. */
  static Loop start(String name, Health health, Body body, Runnable atEnd) {
    Loop loop = new Loop(name, health, body, atEnd);
    loop.thread.setDaemon(true);
    loop.thread.start();
    return loop;
  }

  /** Tells the loop to end after its present turn. */
  void stop() {
    stop.countDown();
  }

  /** Ends the loop and waits for it, a bounded time. */
  @Override
  public void close() {
    stop();
    try {
      if (!thread.join(STOP_LIMIT)) {
        thread.interrupt();
        LOG.warn("{} did not stop within {}", name, STOP_LIMIT);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run(Body body, Runnable atEnd) {
    long backoffMillis = FIRST_BACKOFF.toMillis();
    while (stop.getCount() > 0) {
      try {
        body.runOnce();
        health.ok(name);
        backoffMillis = FIRST_BACKOFF.toMillis();
      } catch (InterruptedException e) {
        break;
      } catch (RuntimeException | Error e) {
        health.failed(name, e);
        LOG.warn("{}: {}; trying again in {} ms", name, e.getMessage(), backoffMillis);
        LOG.debug("{}", name, e);
        if (!waitToRetry(backoffMillis)) {
          break;
        }
        backoffMillis = Math.min(backoffMillis * 2, LONGEST_BACKOFF.toMillis());
      }
    }
    atEnd.run();
  }

  private boolean waitToRetry(long millis) {
    try {
      return !stop.await(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      return false;
    }
  }
}
