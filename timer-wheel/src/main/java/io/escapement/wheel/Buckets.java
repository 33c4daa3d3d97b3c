package io.escapement.wheel;

import java.util.Arrays;

/**
 * The timers of each bucket: a stack of blocks cut from one array, and a bit for each bucket that
 * is in use.
 *
 * <p>A block has room for 16 timers and belongs to one bucket; blocks are chained from the bucket's
 * last to its first, and only the last may be partly filled. A timer is two longs: tick (its low 32
 * bits) and index in the first, payload in the second. Adding and removing happen at the end, so
 * that walking a bucket reads memory in a row; a timer taken from the middle is replaced by the
 * last one, and the caller is told which one moved.
 *
 * <pre>{@code
 * bucket 7, 18 timers     block 3 (full)              block 9
 * ends[7] = 9*16 + 1      [ t t t t t ... t t ]  <--  [ t t . . . ... . . ]
 *                                            below(9) = 3    ^ the end
 * }</pre>
 */
final class Buckets {
  static final int NONE = -1;

  private static final int BLOCK_BITS = 4;
  private static final int BLOCK_TIMERS = 1 << BLOCK_BITS;
  private static final int INITIAL_BLOCKS = 4;

  /** The position of each bucket's last timer. */
  private final int[] ends;

  private final long[] occupied;

  private long[] timers = new long[INITIAL_BLOCKS * BLOCK_TIMERS * 2];

  /** For each block, the one below it in its bucket, or the next free one. */
  private int[] below = new int[INITIAL_BLOCKS];

  private int[] owners = new int[INITIAL_BLOCKS];
  private int everUsed;
  private int firstFree = NONE;

  Buckets(int count) {
    ends = new int[count];
    Arrays.fill(ends, NONE);
    occupied = new long[(count + Long.SIZE - 1) / Long.SIZE];
  }

  boolean isEmpty(int bucket) {
    return ends[bucket] == NONE;
  }

  /** The position of the bucket's last timer, {@link #NONE} if it is empty. */
  int end(int bucket) {
    return ends[bucket];
  }

  /** The first bucket in use of a range, {@link #NONE} if there is none. */
  int firstInUse(int from, int to) {
    if (from >= to) {
      return NONE;
    }
    int word = from / Long.SIZE;
    int lastWord = (to - 1) / Long.SIZE;
    long bits = occupied[word] & (-1L << from);
    while (bits == 0) {
      if (++word > lastWord) {
        return NONE;
      }
      bits = occupied[word];
    }
    int bucket = word * Long.SIZE + Long.numberOfTrailingZeros(bits);
    return bucket < to ? bucket : NONE;
  }

  int indexAt(int position) {
    return (int) timers[2 * position];
  }

  int lowTickAt(int position) {
    return (int) (timers[2 * position] >>> 32);
  }

  long payloadAt(int position) {
    return timers[2 * position + 1];
  }

  int ownerOf(int position) {
    return owners[position >> BLOCK_BITS];
  }

  /** Adds a timer at the bucket's end and returns its position. */
  int push(int bucket, long tick, int index, long payload) {
    int position = ends[bucket] + 1;
    if ((position & (BLOCK_TIMERS - 1)) == 0) {
      position = addBlock(bucket, position - 1) << BLOCK_BITS;
    }
    ends[bucket] = position;
    timers[2 * position] = tick << 32 | index;
    timers[2 * position + 1] = payload;
    return position;
  }

  /**
   * Drops the bucket's last timer; what was at its position may still be read until the next push.
   */
  void pop(int bucket) {
    int end = ends[bucket];
    ends[bucket] = (end & (BLOCK_TIMERS - 1)) == 0 ? dropBlock(bucket, end >> BLOCK_BITS) : end - 1;
  }

  /**
   * Removes a timer from anywhere; the index of the one that took its position, {@link #NONE} if
   * none had to move.
   */
  int remove(int bucket, int position) {
    int end = ends[bucket];
    int moved = NONE;
    if (position != end) {
      timers[2 * position] = timers[2 * end];
      timers[2 * position + 1] = timers[2 * end + 1];
      moved = indexAt(position);
    }
    pop(bucket);
    return moved;
  }

  void clear() {
    Arrays.fill(ends, NONE);
    Arrays.fill(occupied, 0);
    everUsed = 0;
    firstFree = NONE;
  }

  long heapBytes() {
    return (long) (timers.length + occupied.length) * Long.BYTES
        + (long) (below.length + owners.length + ends.length) * Integer.BYTES;
  }

  private int addBlock(int bucket, int end) {
    int block = firstFree;
    if (block == NONE) {
      if (everUsed == owners.length) {
        grow();
      }
      block = everUsed++;
    } else {
      firstFree = below[block];
    }
    if (end == NONE) {
      below[block] = NONE;
      occupied[bucket / Long.SIZE] |= 1L << bucket;
    } else {
      below[block] = end >> BLOCK_BITS;
    }
    owners[block] = bucket;
    return block;
  }

  /** Frees the bucket's last block and returns the end of the one below. */
  private int dropBlock(int bucket, int block) {
    int next = below[block];
    below[block] = firstFree;
    firstFree = block;
    if (next == NONE) {
      occupied[bucket / Long.SIZE] &= ~(1L << bucket);
      return NONE;
    }
    return (next << BLOCK_BITS) | (BLOCK_TIMERS - 1);
  }

  private void grow() {
    int blocks = Growth.larger(owners.length);
    timers = Arrays.copyOf(timers, blocks * BLOCK_TIMERS * 2);
    below = Arrays.copyOf(below, blocks);
    owners = Arrays.copyOf(owners, blocks);
  }
}
