package io.escapement.assembly;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts that run in this process. They stop in the reverse order of their start, so that what
 * one still says is heard by the next.
 *
 * <p>Thread rule: one thread adds, waits and closes.
 */
public final class Parts implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Parts.class);
  private static final long LOOK_EVERY_MILLIS = 500;
  private static final long READY_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final Deque<Part> latestFirst = new ArrayDeque<>();

  /** Adds one that runs. */
  public void add(Part part) {
    latestFirst.push(part);
    LOG.info("{} runs", part.name());
  }

  /**
   * Waits until every part has its share of the work, at most a time: what is sent before is done
   * too, only later.
   */
  void awaitReady(Duration atMost) {
    long end = System.nanoTime() + atMost.toNanos();
    while (!latestFirst.stream().allMatch(Part::isReady) && System.nanoTime() < end) {
      requireRunning();
      LockSupport.parkNanos(READY_LOOK_NANOS);
    }
  }

  /**
   * Waits until somebody asks to stop.
   *
   * @param meanwhile is done about twice a second, while all parts run
   * @throws CommandFailure if a part ends by itself before that
   */
  public void await(CompletableFuture<?> stop, Runnable meanwhile) throws InterruptedException {
    while (true) {
      try {
        stop.get(LOOK_EVERY_MILLIS, TimeUnit.MILLISECONDS);
        return;
      } catch (TimeoutException stillRunning) {
        requireRunning();
        meanwhile.run();
      } catch (ExecutionException e) {
        throw new CommandFailure("stopped by a failure: " + e.getCause(), e);
      }
    }
  }

  /** Fails if a part has ended by itself. */
  public void requireRunning() {
    for (Part part : latestFirst) {
      Optional<String> ended = part.ended();
      if (ended.isPresent()) {
        throw new CommandFailure(part.name() + " has ended by itself: " + ended.get());
      }
    }
  }

  @Override
  public void close() {
    RuntimeException first = null;
    while (!latestFirst.isEmpty()) {
      Part part = latestFirst.pop();
      try {
        part.close();
        LOG.info("{} stopped", part.name());
      } catch (RuntimeException e) {
        LOG.warn("{} did not stop well: {}", part.name(), e.getMessage());
        first = first == null ? e : first;
      }
    }
    if (first != null) {
      throw first;
    }
  }
}
