package io.escapement.wheel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Lets other threads schedule and cancel timers of a {@link TimerWheel} that is not theirs.
 *
 * <p>A bounded queue of commands, written by any number of threads and read by the wheel's owner,
 * who carries the commands out with {@link #drainTo}. When the queue is full, the offering method
 * says so and nothing is lost silently: the caller decides whether to try again, to wait or to do
 * without.
 *
 * <p><b>Cost.</b> One compare-and-set a command, no lock, no allocation; 32 bytes for each command
 * of capacity.
 *
 * <p><b>Order.</b> Commands of one thread are carried out in the order in which it offered them; a
 * command that was offered after another offer had returned comes after it.
 *
 * <p><b>Threads.</b> {@link #schedule}, {@link #cancel} and {@link #capacity} from any thread;
 * {@link #drainTo} only from the wheel's owner. Nothing here wakes the owner: if it may be asleep
 * until the next expiry, wake it after offering.
 *
 * <p><b>Failure.</b> A thread that is held up in the middle of an offer holds up the commands
 * behind its own, until it goes on; the other offers do not wait for it. If the listener throws,
 * the command that it was told of has been carried out, and the next drain goes on with the one
 * behind.
 *
 * <p>The queue is the array queue of Dmitry Vyukov: each cell carries a stamp that says whose turn
 * it is. With 4 cells, after six offers and three drained commands (stamps are twice the lap, plus
 * one when the cell is full):
 *
 * <pre>{@code
 * cell       0        1        2        3
 * stamp      3        3        2        1
 *          full     full     free     full
 *          lap 1    lap 1    lap 1    lap 0
 *                           ^ tail=6  ^ head=3
 * }</pre>
 */
public final class TimerHandoff {
  /** The largest capacity. */
  public static final int MAX_CAPACITY = 1 << 24;

  private static final VarHandle CELLS = MethodHandles.arrayElementVarHandle(long[].class);
  private static final VarHandle TAIL;
  private static final VarHandle HEAD;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      TAIL = lookup.findVarHandle(TimerHandoff.class, "tail", long.class);
      HEAD = lookup.findVarHandle(TimerHandoff.class, "head", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** A cell: its stamp, what to do, and up to two operands. */
  private static final int CELL_LONGS = 4;

  private static final int OPERATION = 1;
  private static final int FIRST = 2;
  private static final int SECOND = 3;

  private static final long SCHEDULE = 0;
  private static final long CANCEL = 1;

  private final int capacity;
  private final long[] cells;

  /** How many commands were offered. */
  private volatile long tail;

  /** How many of them the owner has taken. */
  private volatile long head;

  /** Told by the owner what became of each command. */
  public interface Listener {
    /**
     * A schedule command was carried out.
     *
     * @param payload what it came with
     * @param handle what {@link TimerWheel#schedule} answered: a handle, {@link
     *     TimerWheel#BEYOND_HORIZON} or {@link TimerWheel#FULL}
     */
    void scheduled(long payload, long handle);

    /**
     * A cancel command was carried out.
     *
     * @param handle the handle that it came with
     * @param cancelled what {@link TimerWheel#cancel} answered
     */
    void cancelled(long handle, boolean cancelled);
  }

  /**
   * Makes an empty queue.
   *
   * @param capacity how many commands may wait, from 1 to {@link #MAX_CAPACITY}; the memory is
   *     taken at once
   * @throws IllegalArgumentException if {@code capacity} is out of bounds
   */
  public TimerHandoff(int capacity) {
    if (capacity < 1 || capacity > MAX_CAPACITY) {
      throw new IllegalArgumentException(
          "capacity must be from 1 to " + MAX_CAPACITY + ", not " + capacity);
    }
    this.capacity = capacity;
    cells = new long[capacity * CELL_LONGS];
  }

  /**
   * Asks the owner to schedule a timer.
   *
   * @param deadlineNanos when it is due
   * @param payload what the handler is to be told
   * @return false if the queue is full, and then the command was not taken
   */
  public boolean schedule(long deadlineNanos, long payload) {
    return offer(SCHEDULE, deadlineNanos, payload);
  }

  /**
   * Asks the owner to cancel a timer.
   *
   * @param handle the timer's handle, which the owner made known
   * @return false if the queue is full, and then the command was not taken
   */
  public boolean cancel(long handle) {
    return offer(CANCEL, handle, 0);
  }

  /**
   * Carries out waiting commands in order.
   *
   * @param wheel the owner's wheel
   * @param limit the most commands to carry out
   * @param listener is told what became of each
   * @return how many were carried out
   */
  public int drainTo(TimerWheel wheel, int limit, Listener listener) {
    long position = head;
    int drained = 0;
    while (drained < limit) {
      int cell = cellOf(position);
      long free = stampOf(position);
      if ((long) CELLS.getAcquire(cells, cell) != free + 1) {
        break;
      }
      long operation = cells[cell + OPERATION];
      long first = cells[cell + FIRST];
      long second = cells[cell + SECOND];
      CELLS.setRelease(cells, cell, free + 2);
      HEAD.setRelease(this, ++position);
      drained++;
      if (operation == SCHEDULE) {
        listener.scheduled(second, wheel.schedule(first, second));
      } else {
        listener.cancelled(first, wheel.cancel(first));
      }
    }
    return drained;
  }

  /**
   * How many commands wait, those included whose offer has not returned yet.
   *
   * @return exact for the owner; for other threads, what it was a moment ago
   */
  public int size() {
    long taken = head;
    return (int) Math.min(tail - taken, capacity);
  }

  /**
   * How many commands may wait.
   *
   * @return what the queue was made with
   */
  public int capacity() {
    return capacity;
  }

  private boolean offer(long operation, long first, long second) {
    long position = tail;
    while (true) {
      int cell = cellOf(position);
      long free = stampOf(position);
      long stamp = (long) CELLS.getAcquire(cells, cell);
      if (stamp == free && TAIL.compareAndSet(this, position, position + 1)) {
        cells[cell + OPERATION] = operation;
        cells[cell + FIRST] = first;
        cells[cell + SECOND] = second;
        CELLS.setRelease(cells, cell, free + 1);
        return true;
      }
      if (stamp < free) {
        return false;
      }
      position = tail;
    }
  }

  private int cellOf(long position) {
    return (int) (position % capacity) * CELL_LONGS;
  }

  /** The stamp of a cell that is free for that position. */
  private long stampOf(long position) {
    return position / capacity * 2;
  }
}
