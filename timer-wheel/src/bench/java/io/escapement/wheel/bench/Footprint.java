package io.escapement.wheel.bench;

import java.lang.reflect.Array;
import java.util.SplittableRandom;

/**
 * Prints what the heap holds more for each timer of a contender, the user's array of handles not
 * counted. Arguments: the contender and how many timers.
 */
final class Footprint {
  private static final int WARM_UP = 1000;

  private Footprint() {}

  public static void main(String[] args) {
    String name = args[0];
    int live = Integer.parseInt(args[1]);
    // What is loaded and cached once is not the timers'.
    filled(name, WARM_UP).close();
    long before = usedBytes();
    Contender contender = filled(name, live);
    long bytes = usedBytes() - before - handleBytes(contender.handles());
    if (contender.size() != live) {
      throw new IllegalStateException(contender.size() + " timers wait, not " + live);
    }
    System.out.println((double) bytes / live);
    contender.close();
    System.exit(0);
  }

  /** Deadlines lie in the second half of the horizon, which no real clock reaches meanwhile. */
  private static Contender filled(String name, int live) {
    Contender contender = Contender.named(name, live);
    SplittableRandom random = new SplittableRandom(live);
    for (int place = 0; place < live; place++) {
      contender.schedule(
          place,
          random.nextInt(Contender.HORIZON_TICKS / 2, Contender.HORIZON_TICKS)
              * Contender.TICK_NANOS);
    }
    return contender;
  }

  private static long handleBytes(Object handles) {
    int bytes = handles instanceof long[] ? Long.BYTES : Integer.BYTES;
    return (long) Array.getLength(handles) * bytes;
  }

  /** Until it does not shrink any more. */
  private static long usedBytes() {
    Runtime runtime = Runtime.getRuntime();
    long used = Long.MAX_VALUE;
    while (true) {
      System.gc();
      long now = runtime.totalMemory() - runtime.freeMemory();
      if (now >= used) {
        return used;
      }
      used = now;
    }
  }
}
