package io.escapement.wheel.bench;

import java.util.SplittableRandom;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** A contender with so many timers waiting, spread evenly over the second half of the horizon. */
@State(Scope.Thread)
public class SteadyState {
  static final int BATCH = 1000;

  @Param("escapement")
  public String contender = "escapement";

  @Param("10000")
  public int live;

  final long[] deadlines = new long[64 * BATCH];
  Contender timers = Contender.named("escapement", 0);
  private int nextBatch;

  @Setup(Level.Trial)
  public void fill() {
    SplittableRandom random = new SplittableRandom(live);
    timers = Contender.named(contender, live + BATCH);
    for (int place = 0; place < live; place++) {
      timers.schedule(place, deadline(random));
    }
    for (int i = 0; i < deadlines.length; i++) {
      deadlines[i] = deadline(random);
    }
  }

  @TearDown(Level.Trial)
  public void close() {
    timers.close();
  }

  int nextBatch() {
    nextBatch = (nextBatch + BATCH) % deadlines.length;
    return nextBatch;
  }

  private static long deadline(SplittableRandom random) {
    return random.nextInt(Contender.HORIZON_TICKS / 2, Contender.HORIZON_TICKS)
        * Contender.TICK_NANOS;
  }
}
