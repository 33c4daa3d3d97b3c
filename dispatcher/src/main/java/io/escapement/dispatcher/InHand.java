package io.escapement.dispatcher;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The tasks that this process has claimed and not yet completed, bounded by the concurrency. Thread
 * rule: any thread.
 */
final class InHand {

  private final int limit;
  private final AtomicInteger reserved = new AtomicInteger();
  private final Map<Long, Held> tasks = new ConcurrentHashMap<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition emptied = lock.newCondition();

  InHand(int limit) {
    this.limit = limit;
  }

  /**
   * Reserves room for tasks that are about to be claimed.
   *
   * @return how many there is room for, at most {@code wanted}
   */
  int reserve(int wanted) {
    while (true) {
      int now = reserved.get();
      int granted = Math.min(wanted, limit - now);
      if (granted <= 0) {
        return 0;
      }
      if (reserved.compareAndSet(now, now + granted)) {
        return granted;
      }
    }
  }

  /** Gives back room that was reserved and not used. */
  void unreserve(int unused) {
    reserved.addAndGet(-unused);
    signalIfEmpty();
  }

  /** Takes a claimed task in; its room was reserved before. */
  void add(Held held) {
    tasks.put(held.claimed().task(), held);
  }

  /** Lets a task go. */
  void remove(Held held) {
    if (tasks.remove(held.claimed().task(), held)) {
      unreserve(1);
    }
  }

  boolean contains(Held held) {
    return tasks.get(held.claimed().task()) == held;
  }

  List<Held> all() {
    return new ArrayList<>(tasks.values());
  }

  int size() {
    return tasks.size();
  }

  /**
   * Waits until nothing is in hand.
   *
   * @return false if something still is when the time is over
   */
  boolean awaitEmpty(Duration atMost) throws InterruptedException {
    long left = atMost.toNanos();
    lock.lock();
    try {
      while (reserved.get() > 0) {
        if (left <= 0) {
          return false;
        }
        left = emptied.awaitNanos(left);
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void signalIfEmpty() {
    if (reserved.get() == 0) {
      lock.lock();
      try {
        emptied.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }
}
