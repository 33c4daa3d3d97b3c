package io.escapement.wheel;

import java.util.Arrays;

/**
 * The timers' records, by bucket: each bucket is a stack of blocks cut from one array, and has a
 * bit that says whether it is in use.
 *
 * <p>A block has room for 4 to 32 records, fewer where there are many buckets, and belongs to one
 * bucket; blocks are chained from the bucket's last to its first, and only the last may be partly
 * filled. A record is two longs: tick (its low 32 bits) and index in the first, payload in the
 * second. Records come and go at the end, so that walking a bucket reads memory in a row; the place
 * of one taken from the middle is filled by the last.
 *
 * <p>An index without a timer lies at a position without a record: there are as many of one as of
 * the other. A new record takes the index that it finds at its position, one that moves exchanges
 * its own for the one that it finds, and one that goes leaves its index behind. So no list of free
 * indexes is kept, and a new timer's index is read from the line that is written anyway.
 *
 * <p>With blocks of 16 records:
 *
 * <pre>{@code
 * bucket 7, 18 records    block 3 (full)              block 9
 * ends[7] = 9*16 + 1      [ r r r r r ... r r ]  <--  [ r r . . . ... . . ]
 *                                            below[9] = 3    ^ the end
 * }</pre>
 */
final class Buckets {
  static final int NONE = -1;

  /** A mask of a block fits into a long; larger blocks would stand half empty for more. */
  private static final int MAX_BLOCK_BITS = 5;

  private static final int MIN_BLOCK_BITS = 2;

  /** If each bucket has a block that is all but empty, they come to about so many records. */
  private static final int SLACK_RECORDS = 1 << 16;

  private static final int INITIAL_BLOCKS = 4;

  private final Handles handles;
  private final int blockBits;

  /** The number of records in a block, less one. */
  private final int blockMask;

  /** The position of each bucket's last record. */
  private final int[] ends;

  private final long[] inUse;

  private long[] records;

  /** For each block, the one below it in its bucket, or the next free one. */
  private int[] below = new int[INITIAL_BLOCKS];

  /** The bucket of each block, {@link #NONE} if the block is free. */
  private int[] owners = new int[INITIAL_BLOCKS];

  private int everUsed;
  private int firstFree = NONE;

  Buckets(int count, Handles handles) {
    this.handles = handles;
    ends = new int[count];
    Arrays.fill(ends, NONE);
    inUse = new long[(count + Long.SIZE - 1) / Long.SIZE];
    int bits = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(SLACK_RECORDS / count + 1);
    blockBits = Math.clamp(bits, MIN_BLOCK_BITS, MAX_BLOCK_BITS);
    blockMask = (1 << blockBits) - 1;
    records = new long[(2 * INITIAL_BLOCKS) << blockBits];
    giveIndexes(0);
  }

  boolean isEmpty(int bucket) {
    return ends[bucket] == NONE;
  }

  /** The position of the bucket's last record, {@link #NONE} if it is empty. */
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
    long bits = inUse[word] & (-1L << from);
    while (bits == 0) {
      if (++word > lastWord) {
        return NONE;
      }
      bits = inUse[word];
    }
    int bucket = word * Long.SIZE + Long.numberOfTrailingZeros(bits);
    return bucket < to ? bucket : NONE;
  }

  int indexAt(int position) {
    return (int) records[2 * position];
  }

  int lowTickAt(int position) {
    return (int) (records[2 * position] >>> 32);
  }

  long payloadAt(int position) {
    return records[2 * position + 1];
  }

  /** Makes room for a record at the bucket's end; its position. */
  int push(int bucket) {
    int position = ends[bucket] + 1;
    if ((position & blockMask) == 0) {
      position = addBlock(bucket, position - 1) << blockBits;
    }
    ends[bucket] = position;
    return position;
  }

  /** Writes a record with the index that is at its position. */
  void set(int position, long tick, long payload) {
    records[2 * position] = tick << 32 | indexAt(position);
    records[2 * position + 1] = payload;
  }

  /** Changes the tick of a record. */
  void setTick(int position, long tick) {
    records[2 * position] = tick << 32 | indexAt(position);
  }

  /** Puts another index in the place of one that has no timer. */
  void replaceIndex(int position, int index) {
    records[2 * position] = index;
  }

  /** Copies a record to a position that has none; the two positions exchange their indexes. */
  void move(int from, int to) {
    long record = records[2 * from];
    long payload = records[2 * from + 1];
    records[2 * from] = indexAt(to);
    records[2 * to] = record;
    records[2 * to + 1] = payload;
  }

  /**
   * Drops the bucket's last record; what was at its position may still be read until the next push.
   */
  void pop(int bucket) {
    int end = ends[bucket];
    ends[bucket] = (end & blockMask) == 0 ? dropBlock(bucket, end >> blockBits) : end - 1;
  }

  /**
   * Drops the bucket's records after a position of its last block, or before it for all of them.
   */
  void cut(int bucket, int newEnd) {
    int block = blockOf(ends[bucket]);
    ends[bucket] = newEnd < firstPosition(block) ? dropBlock(bucket, block) : newEnd;
  }

  /** Drops a record from anywhere in the bucket; the last one takes its position. */
  void remove(int bucket, int position) {
    move(ends[bucket], position);
    pop(bucket);
  }

  /** Blocks are numbered from 0 to before this. */
  int blocks() {
    return everUsed;
  }

  /** The bucket of a block, {@link #NONE} if the block is free. */
  int owner(int block) {
    return owners[block];
  }

  int blockOf(int position) {
    return position >> blockBits;
  }

  int firstPosition(int block) {
    return block << blockBits;
  }

  /** The position of the last record of a block that is not free. */
  int lastPosition(int block) {
    int end = ends[owners[block]];
    return end >> blockBits == block ? end : (block << blockBits) + blockMask;
  }

  void clear() {
    Arrays.fill(ends, NONE);
    Arrays.fill(inUse, 0);
    everUsed = 0;
    firstFree = NONE;
  }

  long heapBytes() {
    return (long) (records.length + inUse.length) * Long.BYTES
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
      inUse[bucket / Long.SIZE] |= 1L << bucket;
    } else {
      below[block] = end >> blockBits;
    }
    owners[block] = bucket;
    return block;
  }

  /** Frees the bucket's last block and returns the end of the one below. */
  private int dropBlock(int bucket, int block) {
    int next = below[block];
    owners[block] = NONE;
    below[block] = firstFree;
    firstFree = block;
    if (next == NONE) {
      inUse[bucket / Long.SIZE] &= ~(1L << bucket);
      return NONE;
    }
    return (next << blockBits) + blockMask;
  }

  private void giveIndexes(int firstPosition) {
    for (int position = firstPosition; 2 * position < records.length; position++) {
      records[2 * position] = handles.newIndex();
    }
  }

  private void grow() {
    int blocks = Growth.larger(owners.length);
    records = Arrays.copyOf(records, (2 * blocks) << blockBits);
    giveIndexes(owners.length << blockBits);
    below = Arrays.copyOf(below, blocks);
    owners = Arrays.copyOf(owners, blocks);
  }
}
