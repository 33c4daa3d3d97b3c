package io.escapement.dispatcher.relay;

import io.debezium.engine.RecordChangeEvent;
import io.escapement.ledger.OutboxEntry;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.connect.source.SourceRecord;

/**
 * Transactions between the thread that reads the stream and the one that sends them: while one
 * Kafka transaction is committed, the next one gathers here.
 *
 * <p>Bounded by characters of packed events; a single transaction beyond the bound is let in when
 * nothing else waits. Thread rule: any.
 */
final class Backlog {

  /** Rows without a character still take memory. */
  private static final int ROW_COST = 256;

  private final long limit;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
  private long cost;
  private boolean closed;

  Backlog(long limit) {
    this.limit = limit;
  }

  /** A transaction and the record that ended it, by which it is acknowledged. */
  record Waiting(OutboxTransaction transaction, RecordChangeEvent<SourceRecord> last) {
    private long cost() {
      long cost = ROW_COST;
      for (OutboxEntry row : transaction.rows()) {
        cost += ROW_COST + row.packed().length();
      }
      return cost;
    }
  }

  /**
   * Adds one; waits for room.
   *
   * @return whether it was taken; not after {@link #close}
   */
  boolean put(Waiting one) throws InterruptedException {
    long added = one.cost();
    lock.lock();
    try {
      while (!closed && cost > 0 && cost + added > limit) {
        changed.await();
      }
      if (closed) {
        return false;
      }
      waiting.add(one);
      cost += added;
      changed.signalAll();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Takes all there is, once there is something; empty after {@link #close}. */
  List<Waiting> take() throws InterruptedException {
    lock.lock();
    try {
      while (!closed && waiting.isEmpty()) {
        changed.await();
      }
      if (closed) {
        return List.of();
      }
      List<Waiting> taken = new ArrayList<>(waiting);
      waiting.clear();
      cost = 0;
      changed.signalAll();
      return taken;
    } finally {
      lock.unlock();
    }
  }

  /** Nobody waits any more, in either direction. */
  void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
