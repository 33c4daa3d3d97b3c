package io.escapement.wheel;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.LongGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Several threads offer and the owner drains: what they see must be what the same calls, one after
 * the other in some order, would show on a plain bounded queue.
 *
 * <p>Lincheck, because it walks through the interleavings of short scenarios one by one, checks
 * each against that plain queue and prints the one that fails. It takes memory to be sequentially
 * consistent when it does; the stress test on real threads is for the rest.
 */
final class TimerHandoffConcurrencyTest {
  private static final int CAPACITY = 2;

  /** What the hand-off must look like. */
  public static final class BoundedQueue {
    private final Queue<Long> queue = new ArrayDeque<>();

    public boolean schedule(long payload) {
      return queue.size() < CAPACITY && queue.add(payload);
    }

    public boolean cancel(long handle) {
      return queue.size() < CAPACITY && queue.add(-handle);
    }

    public @Nullable Long drainOne() {
      return queue.poll();
    }
  }

  @Param(name = "number", gen = LongGen.class, conf = "1:9")
  public static final class Handoff implements TimerHandoff.Listener {
    private final TimerHandoff handoff = new TimerHandoff(CAPACITY);
    private final TimerWheel wheel = new TimerWheel(new WheelGeometry(1, 2, 1), 64, 0);
    private long drained;

    @Operation
    public boolean schedule(@Param(name = "number") long payload) {
      return handoff.schedule(0, payload);
    }

    @Operation
    public boolean cancel(@Param(name = "number") long handle) {
      return handoff.cancel(handle);
    }

    /** Waits for an offer that is under way; a drain would not. */
    @Operation(nonParallelGroup = "owner")
    public @Nullable Long drainOne() {
      while (handoff.drainTo(wheel, 1, this) == 0) {
        if (handoff.size() == 0) {
          return null;
        }
        Thread.onSpinWait();
      }
      return drained;
    }

    @Override
    public void scheduled(long payload, long handle) {
      drained = payload;
    }

    @Override
    public void cancelled(long handle, boolean cancelled) {
      drained = -handle;
    }
  }

  /** The same without the compare-and-set: two threads may take one cell. */
  @Param(name = "number", gen = LongGen.class, conf = "1:9")
  public static final class UnguardedQueue {
    private final long[] cells = new long[CAPACITY];
    private volatile int tail;
    private volatile int head;

    @Operation
    public boolean schedule(@Param(name = "number") long payload) {
      int position = tail;
      if (position - head == CAPACITY) {
        return false;
      }
      cells[position % CAPACITY] = payload;
      tail = position + 1;
      return true;
    }

    @Operation(nonParallelGroup = "owner")
    public @Nullable Long drainOne() {
      int position = head;
      if (position == tail) {
        return null;
      }
      long payload = cells[position % CAPACITY];
      head = position + 1;
      return payload;
    }
  }

  /** A cell is said to be full before its payload is there: the owner may read what was before. */
  @Param(name = "number", gen = LongGen.class, conf = "1:9")
  public static final class HastyQueue {
    private final AtomicLongArray stamps = new AtomicLongArray(CAPACITY);
    private final long[] cells = new long[CAPACITY];
    private final AtomicLong tail = new AtomicLong();
    private volatile long head;

    @Operation
    public boolean schedule(@Param(name = "number") long payload) {
      while (true) {
        long position = tail.get();
        int cell = (int) (position % CAPACITY);
        long free = position / CAPACITY * 2;
        long stamp = stamps.get(cell);
        if (stamp == free && tail.compareAndSet(position, position + 1)) {
          stamps.set(cell, free + 1);
          cells[cell] = payload;
          return true;
        }
        if (stamp < free) {
          return false;
        }
      }
    }

    @Operation(nonParallelGroup = "owner")
    public @Nullable Long drainOne() {
      long position = head;
      int cell = (int) (position % CAPACITY);
      long full = position / CAPACITY * 2 + 1;
      while (stamps.get(cell) != full) {
        if (tail.get() == position) {
          return null;
        }
        Thread.onSpinWait();
      }
      long payload = cells[cell];
      stamps.set(cell, full + 1);
      head = position + 1;
      return payload;
    }
  }

  @Test
  void everyInterleavingOfAShortScenarioIsThatOfABoundedQueue() {
    modelChecking().check(Handoff.class);
  }

  @Test
  void aQueueWithoutTheGuardIsFoundOut() {
    assertThatThrownBy(() -> modelChecking().check(UnguardedQueue.class))
        .isInstanceOf(LincheckAssertionError.class);
  }

  @Test
  void aQueueThatSaysFullTooEarlyIsFoundOut() {
    assertThatThrownBy(() -> modelChecking().check(HastyQueue.class))
        .isInstanceOf(LincheckAssertionError.class);
  }

  @Test
  void onRealThreadsItIsABoundedQueueToo() {
    new StressOptions()
        .sequentialSpecification(BoundedQueue.class)
        .threads(3)
        .actorsPerThread(3)
        .iterations(10)
        .invocationsPerIteration(500)
        .check(Handoff.class);
  }

  private static ModelCheckingOptions modelChecking() {
    return new ModelCheckingOptions()
        .sequentialSpecification(BoundedQueue.class)
        .threads(3)
        .actorsBefore(2)
        .actorsPerThread(2)
        .actorsAfter(1)
        .iterations(12)
        .invocationsPerIteration(250)
        .addGuarantee(forClasses(TimerWheel.class.getName()).allMethods().ignore());
  }
}
