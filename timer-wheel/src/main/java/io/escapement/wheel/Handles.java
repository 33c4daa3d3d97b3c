package io.escapement.wheel;

import java.util.Arrays;

/**
 * Where each timer lies, by handle, and which handles are still good.
 *
 * <p>A handle is an index with the generation of that index: {@code generation << 32 | index},
 * never negative, never 0. An entry is eight bytes: the generation in the upper half; in the lower
 * half the timer's position, or, when the index is free, the sign bit and the next free index.
 * Giving an index back raises its generation, which makes every handle issued for it so far stale.
 * An index whose generations are used up (two thousand million timers later) is retired, so a
 * handle can never come to name a second timer; each retired index costs its eight bytes.
 */
final class Handles {
  static final int NONE = -1;

  private static final int FREE = 1 << 31;
  private static final int END_OF_FREE = ~FREE;
  private static final long GENERATION = 0xFFFF_FFFFL << 32;
  private static final long FIRST_GENERATION = 1L << 32;
  private static final int INITIAL_ENTRIES = 64;

  private final int lastGeneration;
  private long[] entries = new long[INITIAL_ENTRIES];
  private int everUsed;
  private int firstFree = END_OF_FREE;
  private int live;

  Handles(int lastGeneration) {
    this.lastGeneration = lastGeneration;
  }

  int live() {
    return live;
  }

  /** One more than the highest index that was ever acquired. */
  int everUsed() {
    return everUsed;
  }

  /** Takes a free index. Its entry is in disorder until {@link #place}. */
  int acquire() {
    live++;
    int index = firstFree;
    if (index != END_OF_FREE) {
      firstFree = (int) entries[index] & END_OF_FREE;
      return index;
    }
    if (everUsed == entries.length) {
      entries = Arrays.copyOf(entries, Growth.larger(entries.length));
    }
    entries[everUsed] = FIRST_GENERATION;
    return everUsed++;
  }

  /** Records where a timer lies and returns its handle. */
  long place(int index, int position) {
    long generation = entries[index] & GENERATION;
    entries[index] = generation | position;
    return generation | index;
  }

  /** The handle at an index that is in use. */
  long handleAt(int index) {
    return (entries[index] & GENERATION) | index;
  }

  /** Where the timer at an index lies, negative if the index is free. */
  int positionAt(int index) {
    return (int) entries[index];
  }

  /** Where the timer of a handle lies, negative if the handle is not, or no longer, good. */
  int positionOf(long handle) {
    int index = (int) handle;
    if (index < 0 || index >= everUsed) {
      return NONE;
    }
    long entry = entries[index];
    return ((entry ^ handle) & GENERATION) == 0 ? (int) entry : NONE;
  }

  void release(int index) {
    live--;
    int generation = (int) (entries[index] >>> 32);
    if (generation == lastGeneration) {
      entries[index] |= FREE | END_OF_FREE;
      return;
    }
    entries[index] = (long) (generation + 1) << 32 | ((FREE | firstFree) & 0xFFFF_FFFFL);
    firstFree = index;
  }

  void releaseAll() {
    for (int index = 0; index < everUsed; index++) {
      if (positionAt(index) >= 0) {
        release(index);
      }
    }
  }

  long heapBytes() {
    return (long) entries.length * Long.BYTES;
  }
}
