package io.escapement.dispatcher;

import io.escapement.ledger.LeaseKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * The tasks that one driver has claimed and that are not yet completed, bounded. Thread rule: any
 * thread.
 */
final class InHand {

  private final int limit;
  private final Consumer<Held> added;
  private final AtomicInteger reserved = new AtomicInteger();
  private final AtomicInteger handled = new AtomicInteger();
  private final Map<LeaseKey, Held> tasks = new ConcurrentHashMap<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition emptied = lock.newCondition();

  /**
   * Room for tasks.
   *
   * @param added told of each task that is taken in
   */
  InHand(int limit, Consumer<Held> added) {
    this.limit = limit;
    this.added = added;
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
    tasks.put(held.key(), held);
    if (!held.isCall()) {
      handled.incrementAndGet();
    }
    added.accept(held);
  }

  /** Lets a task go. */
  void remove(Held held) {
    if (tasks.remove(held.key(), held)) {
      if (!held.isCall()) {
        handled.decrementAndGet();
      }
      unreserve(1);
    }
  }

  boolean contains(Held held) {
    return tasks.get(held.key()) == held;
  }

  List<Held> all() {
    return new ArrayList<>(tasks.values());
  }

  int size() {
    return tasks.size();
  }

  /** How many of them are done by handlers. */
  int handled() {
    return handled.get();
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
