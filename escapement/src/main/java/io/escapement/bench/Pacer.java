package io.escapement.bench;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * An open-loop schedule: each step has its moment, whether or not the step before it was late, so
 * that a stall shows in every latency that it caused.
 */
record Pacer(int perSecond, Patience patience) {

  /** A step, told when it was meant to be. */
  @FunctionalInterface
  interface Step {
    void at(int number, long intendedNanos);
  }

  /** Takes so many steps. */
  void run(int steps, Step step) {
    long start = System.nanoTime();
    long period = Duration.ofSeconds(1).toNanos() / perSecond;
    for (int i = 0; i < steps; i++) {
      patience.requireWanted();
      long intended = start + i * period;
      for (long left = intended - System.nanoTime();
          left > 0;
          left = intended - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
      step.at(i, intended);
    }
  }
}
