package io.escapement.wheel;

import java.util.Arrays;

/**
 * Which timers are alive, by handle.
 *
 * <p>A handle is an index with the generation of that index: {@code generation << 32 | index},
 * never negative. An index's generation is odd while a timer with it is alive, and goes up by one
 * when the timer is scheduled and when it is cancelled or fires; so every handle but the last one
 * issued for an index is stale, and cancelling is a single write. An index is free again only when
 * the wheel has let go of the timer's record ({@link #free}): a record needs no generation of its
 * own.
 *
 * <p>An index whose generations are used up, a thousand million timers later, is retired: a handle
 * can never come to name a second timer. Each retired index costs its eight bytes.
 */
final class Handles {
  static final int LAST_GENERATION = Integer.MAX_VALUE - 1;

  private static final int INITIAL_INDEXES = 64;

  private final int lastGeneration;
  private int[] generations = new int[INITIAL_INDEXES];

  /** A stack. */
  private int[] freeIndexes = new int[INITIAL_INDEXES];

  private int freeCount;
  private int everUsed;
  private int retired;
  private int dead;

  /** All indexes are used up to that generation, which is even. */
  Handles(int lastGeneration) {
    this.lastGeneration = lastGeneration;
  }

  int live() {
    return everUsed - freeCount - retired - dead;
  }

  /** How many timers were cancelled and still have a record. */
  int dead() {
    return dead;
  }

  /** A new handle, alive. */
  long issue() {
    int index = freeCount > 0 ? freeIndexes[--freeCount] : neverUsed();
    long generation = ++generations[index];
    return generation << 32 | index;
  }

  /** Whether the handle was good; it is not any more. */
  boolean kill(long handle) {
    int index = (int) handle;
    int generation = (int) (handle >>> 32);
    if (index < 0
        || index >= generations.length
        || generations[index] != generation
        || !isOdd(generation)) {
      return false;
    }
    generations[index] = generation + 1;
    dead++;
    return true;
  }

  /** 1 for a timer that is alive, 0 for one that is dead. */
  int liveBit(int index) {
    return generations[index] & 1;
  }

  boolean isLive(int index) {
    return isOdd(generations[index]);
  }

  /** The handle of a timer that is alive. */
  long handleAt(int index) {
    return (long) generations[index] << 32 | index;
  }

  /** Lets an index go, whether its timer is alive or dead. */
  void free(int index) {
    int generation = generations[index];
    if (isOdd(generation)) {
      generations[index] = ++generation;
    } else {
      dead--;
    }
    if (generation == lastGeneration) {
      retired++;
    } else {
      freeIndexes[freeCount++] = index;
    }
  }

  long heapBytes() {
    return (long) (generations.length + freeIndexes.length) * Integer.BYTES;
  }

  private int neverUsed() {
    if (everUsed == generations.length) {
      int length = Growth.larger(everUsed);
      generations = Arrays.copyOf(generations, length);
      freeIndexes = Arrays.copyOf(freeIndexes, length);
    }
    return everUsed++;
  }

  private static boolean isOdd(int generation) {
    return (generation & 1) != 0;
  }
}
