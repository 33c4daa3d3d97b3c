package io.escapement.dispatcher;

import io.escapement.ledger.ClaimedTask;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.Observation;
import io.escapement.ledger.ObserveAnswer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs handlers on a bounded number of threads.
 *
 * <p>Whatever a handler throws, Errors included, is its own task's failure. The queue in front of
 * the threads is bounded by what may be in hand. Thread rule: any thread.
 */
final class HandlerPool {

  private static final Logger LOG = LoggerFactory.getLogger(HandlerPool.class);

  /** What is claimed waits for a thread about so long at most, while its time-out runs. */
  private static final long QUEUE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** Until handlers have shown how long they take, none waits for another one. */
  private static final long FIRST_GUESS_NANOS = 2 * QUEUE_NANOS;

  /** What has waited so long for a thread is handed back: it was expected to begin long ago. */
  private static final long LONGEST_QUEUE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final int MOST_STAND_INS = 4;
  private static final int FORGETFULNESS = 16;

  private final Handlers handlers;
  private final Ledger ledger;
  private final Completer completer;
  private final ThreadPoolExecutor threads;
  private final int threadLimit;

  /** Handlers that run on though their lease is lost; a thread stands in for each. */
  private final Set<Held> stuck = ConcurrentHashMap.newKeySet();

  /** How long handlers take, the younger the more it counts. */
  private final AtomicLong usualNanos = new AtomicLong(FIRST_GUESS_NANOS);

  private volatile long lastEndNanos = System.nanoTime();

  HandlerPool(Handlers handlers, Ledger ledger, Completer completer, int threadLimit) {
    this.handlers = handlers;
    this.ledger = ledger;
    this.completer = completer;
    this.threadLimit = threadLimit;
    AtomicInteger number = new AtomicInteger();
    this.threads =
        new ThreadPoolExecutor(
            threadLimit,
            threadLimit,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            body -> {
              Thread thread = new Thread(body, "escapement-handler-" + number.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
  }

  /** Runs a task as soon as a thread is free. */
  void submit(Held held) {
    threads.execute(new Run(held));
  }

  /** How many tasks more would begin soon if they were claimed now. */
  int startable() {
    int free = threads.getCorePoolSize() - threads.getActiveCount();
    // However long handlers took before: those that run now keep their threads for longer.
    boolean stalled = free <= 0 && System.nanoTime() - lastEndNanos > QUEUE_NANOS;
    long rounds = stalled ? 0 : QUEUE_NANOS / Math.max(1, usualNanos.get());
    long waiting = Math.min(Integer.MAX_VALUE / 2, threadLimit * rounds);
    return (int) waiting + free - threads.getQueue().size();
  }

  /**
   * Hands back what has waited too long for a thread; others may have one, and it costs nothing.
   */
  void handBackOld() {
    long now = System.nanoTime();
    for (Runnable one : threads.getQueue()) {
      Held held = ((Run) one).held;
      if (now - held.claimedNanos() > LONGEST_QUEUE_NANOS && threads.getQueue().remove(one)) {
        handBack(held);
      }
    }
  }

  /** Has another thread stand in for one whose handler does not end though its lease is lost. */
  void replace(Held held) {
    synchronized (stuck) {
      if (stuck.size() >= MOST_STAND_INS * threadLimit) {
        LOG.error("{} handlers run on without a lease; no thread stands in for more", stuck.size());
      } else if (stuck.add(held)) {
        resize();
      }
    }
    if (!held.isRunning()) {
      dismiss(held);
    }
  }

  /** Handlers that run on though their lease is lost. */
  int stuck() {
    return stuck.size();
  }

  private void took(long nanos) {
    // One that took hours says no more than that it was too long to be waited for.
    long counted = Math.min(nanos, 2 * QUEUE_NANOS);
    usualNanos.updateAndGet(usual -> usual + (counted - usual) / FORGETFULNESS);
  }

  private void dismiss(Held held) {
    synchronized (stuck) {
      if (stuck.remove(held)) {
        resize();
      }
    }
  }

  private void resize() {
    int size = threadLimit + stuck.size();
    if (size > threads.getMaximumPoolSize()) {
      threads.setMaximumPoolSize(size);
      threads.setCorePoolSize(size);
    } else {
      threads.setCorePoolSize(size);
      threads.setMaximumPoolSize(size);
    }
  }

  /** Hands back what has not begun; nothing more may be submitted. */
  void handBackUnstarted() {
    List<Runnable> waiting = new ArrayList<>();
    threads.getQueue().drainTo(waiting);
    for (Runnable one : waiting) {
      handBack(((Run) one).held);
    }
  }

  /** Hands a task back that surely has not begun. */
  void handBack(Held held) {
    held.neverBegan();
    completer.add(held, Observation.released(held.claimed().task(), held.claimed().attempt()));
  }

  /** Interrupts what still runs and waits for it, a bounded time. */
  boolean stop(Duration atMost) throws InterruptedException {
    threads.shutdownNow();
    return threads.awaitTermination(atMost.toNanos(), TimeUnit.NANOSECONDS);
  }

  private void run(Held held) {
    if (!held.begin(Thread.currentThread())) {
      // Its cancellation was asked for, or its lease was lost, before it began.
      handBack(held);
      return;
    }
    ClaimedTask claimed = held.claimed();
    long begun = System.nanoTime();
    Observation seen = null;
    ObserveAnswer answer = null;
    try {
      switch (handlers.forKind(claimed.kind())) {
        case EffectHandler handler -> seen = observation(claimed, handler.handle(Task.of(claimed)));
        case TransactionalHandler handler -> {
          answer =
              ledger.complete(
                  claimed,
                  connection -> observation(claimed, handler.handle(Task.of(claimed), connection)));
        }
      }
    } catch (Throwable e) {
      // For a transaction it is not known whether it was committed; "failed" settles that, for an
      // attempt that was completed answers so and stays completed.
      seen = Observation.failed(claimed.task(), claimed.attempt(), describe(e));
    } finally {
      held.end();
      lastEndNanos = System.nanoTime();
      took(lastEndNanos - begun);
      dismiss(held);
    }
    if (answer != null) {
      completer.settled(held, answer);
    } else if (seen != null) {
      completer.add(held, seen);
    }
  }

  /** A handler's exception may itself fail when it is asked what it is. */
  static String describe(Throwable e) {
    try {
      return e.toString();
    } catch (RuntimeException | StackOverflowError unspeakable) {
      return e.getClass().getName();
    }
  }

  private static Observation observation(ClaimedTask claimed, HandlerResult result) {
    return switch (result) {
      case HandlerResult.Done done ->
          Observation.completed(claimed.task(), claimed.attempt(), done.effect());
      case HandlerResult.Failed failed ->
          Observation.failed(claimed.task(), claimed.attempt(), failed.why());
      case HandlerResult.Poisoned poisoned ->
          Observation.poisoned(claimed.task(), claimed.attempt(), poisoned.why());
    };
  }

  private final class Run implements Runnable {
    final Held held;

    Run(Held held) {
      this.held = held;
    }

    @Override
    public void run() {
      HandlerPool.this.run(held);
    }
  }
}
