package io.escapement.ingest;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.errors.InterruptException;

/**
 * Something that the ledger's thread was given.
 *
 * @param shares what it is about
 */
record Pending<T>(Future<T> future, List<PositionedShare> shares) {

  boolean isDone() {
    return future.isDone();
  }

  /** Waits for its end, at most a time; returns whether it has ended, well or not. */
  boolean endsWithin(Duration limit) {
    try {
      future.get(limit.toNanos(), TimeUnit.NANOSECONDS);
      return true;
    } catch (ExecutionException failed) {
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (InterruptedException e) {
      throw new InterruptException(e);
    }
  }

  /** What came of it; throws what it threw. */
  T result() {
    try {
      return future.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      if (e.getCause() instanceof Error fault) {
        throw fault;
      }
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      throw new InterruptException(e);
    }
  }
}
