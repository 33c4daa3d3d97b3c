package io.escapement.wheel;

import java.util.Arrays;

/**
 * Which timers are alive, by handle.
 *
 * <p>A handle is an index with the generation of that index: {@code generation << 32 | index},
 * never negative. An index's generation is odd while a timer with it is alive, and goes up by one
 * when the timer is scheduled and when it is cancelled or fires; so every handle but the last one
 * issued for an index is stale, and cancelling is a single write. An index is issued again only
 * when the wheel has let go of the timer's record ({@link #free}): a record needs no generation of
 * its own. {@link Buckets} keeps the indexes that are free.
 *
 * <p>An index whose generations are used up, a thousand million timers later, is retired: a handle
 * can never come to name a second timer. Each retired index costs its four bytes.
 */
final class Handles {
  static final int LAST_GENERATION = Integer.MAX_VALUE - 1;

  private static final int INITIAL_INDEXES = 64;

  private final int lastGeneration;
  private int[] generations = new int[INITIAL_INDEXES];
  private int indexes;
  private int live;
  private int dead;

  /** All indexes are used up to that generation, which is even. */
  Handles(int lastGeneration) {
    this.lastGeneration = lastGeneration;
  }

  int live() {
    return live;
  }

  /** How many timers were cancelled and still have a record. */
  int dead() {
    return dead;
  }

  /** An index that there was not before. */
  int newIndex() {
    if (indexes == generations.length) {
      generations = Arrays.copyOf(generations, Growth.larger(indexes));
    }
    return indexes++;
  }

  /** A new handle, alive. */
  long issue(int index) {
    live++;
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
    live--;
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

  /** Whether the timer was alive when {@link #handleAt} gave its handle. */
  static boolean isLive(long handle) {
    return (handle >>> 32 & 1) != 0;
  }

  /** The handle of a timer that is alive. */
  long handleAt(int index) {
    return (long) generations[index] << 32 | index;
  }

  /** Lets an index go, whether its timer is alive or dead; false if it must not be issued again. */
  boolean free(int index) {
    int generation = generations[index];
    if (isOdd(generation)) {
      generations[index] = ++generation;
      live--;
    } else {
      dead--;
    }
    return generation != lastGeneration;
  }

  long heapBytes() {
    return (long) generations.length * Integer.BYTES;
  }

  private static boolean isOdd(int generation) {
    return (generation & 1) != 0;
  }
}
