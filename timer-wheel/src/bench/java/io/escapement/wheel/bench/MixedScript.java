package io.escapement.wheel.bench;

import java.util.SplittableRandom;

/**
 * A load without end that keeps about so many timers alive: each step schedules one timer, cancels
 * those whose time has come and moves the clock on by a little. Four of five timers are cancelled,
 * each at a moment drawn evenly from its wait; delays are drawn evenly from the horizon.
 *
 * <p>Steps repeat after one horizon, when nothing that was scheduled under a place can be alive.
 */
final class MixedScript {
  /** A timer lives 0.2 * 1/2 + 0.8 * 1/4 of the horizon on average. */
  private static final double MEAN_LIFE_OF_HORIZON = 0.3;

  private final Contender contender;
  private final int[] delayTicks;

  /**
   * The places to cancel in step {@code s} are those from {@code firstCancel[s]} to before {@code
   * firstCancel[s + 1]}.
   */
  private final int[] firstCancel;

  private final int[] cancelPlaces;
  private final double stepNanos;
  private int step;
  private long laps;
  private long nowNanos;
  long fired;

  MixedScript(String contender, int live) {
    int steps = steps(live);
    this.contender = Contender.named(contender, steps);
    stepNanos = (double) Contender.HORIZON_NANOS / steps;
    delayTicks = new int[steps];
    int[] cancelSteps = new int[steps];
    firstCancel = new int[steps + 1];
    SplittableRandom random = new SplittableRandom(live);
    for (int place = 0; place < steps; place++) {
      delayTicks[place] = random.nextInt(1, Contender.HORIZON_TICKS);
      cancelSteps[place] = -1;
      if (random.nextInt(5) > 0) {
        double waitSteps =
            random.nextDouble() * delayTicks[place] * Contender.TICK_NANOS / stepNanos;
        cancelSteps[place] = (place + (int) waitSteps) % steps;
        firstCancel[cancelSteps[place] + 1]++;
      }
    }
    for (int s = 0; s < steps; s++) {
      firstCancel[s + 1] += firstCancel[s];
    }
    cancelPlaces = new int[firstCancel[steps]];
    int[] next = firstCancel.clone();
    for (int place = 0; place < steps; place++) {
      if (cancelSteps[place] >= 0) {
        cancelPlaces[next[cancelSteps[place]]++] = place;
      }
    }
  }

  static int steps(int live) {
    return (int) (live / MEAN_LIFE_OF_HORIZON);
  }

  /** Cancels of the first lap may name places that nothing was scheduled under yet. */
  void warmUp() {
    for (int s = 0; s < delayTicks.length; s++) {
      contender.schedule(step, deadline());
      for (int i = firstCancel[step]; i < firstCancel[step + 1]; i++) {
        if (cancelPlaces[i] <= step) {
          contender.cancel(cancelPlaces[i]);
        }
      }
      tick();
    }
  }

  void run(int steps) {
    for (int s = 0; s < steps; s++) {
      contender.schedule(step, deadline());
      for (int i = firstCancel[step]; i < firstCancel[step + 1]; i++) {
        contender.cancel(cancelPlaces[i]);
      }
      tick();
    }
  }

  Contender contender() {
    return contender;
  }

  private long deadline() {
    return nowNanos + delayTicks[step] * Contender.TICK_NANOS;
  }

  private void tick() {
    if (++step == delayTicks.length) {
      step = 0;
      laps++;
    }
    long then = nowNanos;
    nowNanos = laps * Contender.HORIZON_NANOS + (long) (step * stepNanos);
    if (then / Contender.TICK_NANOS != nowNanos / Contender.TICK_NANOS) {
      fired += contender.advance(nowNanos);
    }
  }
}
