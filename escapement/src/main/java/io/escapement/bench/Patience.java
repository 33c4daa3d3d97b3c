package io.escapement.bench;

import io.escapement.assembly.CommandFailure;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Waits for what a benchmark waits for, unless somebody wants it to end early.
 *
 * <p>Thread rule: any thread. Failure: {@link CommandFailure} that says what did not come.
 */
final class Patience {

  private static final Duration LOOK_EVERY = Duration.ofMillis(10);

  private static final Duration SLACK = Duration.ofMinutes(5);

  private final BooleanSupplier stopped;

  Patience(BooleanSupplier stopped) {
    this.stopped = stopped;
  }

  /** Looks every few milliseconds until it is so. */
  void await(String what, Duration atMost, BooleanSupplier isSo) {
    long begun = System.nanoTime();
    while (!isSo.getAsBoolean()) {
      requireWanted();
      if (System.nanoTime() - begun > atMost.toNanos()) {
        throw new CommandFailure(
            "the benchmark waited " + atMost.toSeconds() + " s in vain for: " + what);
      }
      LockSupport.parkNanos(LOOK_EVERY.toNanos());
    }
  }

  /** The same while these parts run; fails if one of them has ended by itself. */
  void await(String what, Duration atMost, List<ChildPart> alive, BooleanSupplier isSo) {
    await(
        what,
        atMost,
        () -> {
          alive.forEach(ChildPart::requireAlive);
          return isSo.getAsBoolean();
        });
  }

  /** Lets time pass. */
  void pass(Duration time) {
    long end = System.nanoTime() + time.toNanos();
    await("time to pass", time.plus(SLACK), () -> System.nanoTime() >= end);
  }

  /** Ends a benchmark that nobody wants any more. */
  void requireWanted() {
    if (stopped.getAsBoolean()) {
      throw new CommandFailure("the benchmark was stopped before its end");
    }
  }
}
