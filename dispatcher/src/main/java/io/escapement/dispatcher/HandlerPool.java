package io.escapement.dispatcher;

import io.escapement.ledger.ClaimedTask;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.LedgerException;
import io.escapement.ledger.Observation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
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

  private final Handlers handlers;
  private final Ledger ledger;
  private final Completer completer;
  private final ThreadPoolExecutor threads;

  HandlerPool(Handlers handlers, Ledger ledger, Completer completer, int threadLimit) {
    this.handlers = handlers;
    this.ledger = ledger;
    this.completer = completer;
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
    switch (handlers.forKind(claimed.kind())) {
      case EffectHandler handler -> {
        Observation seen;
        try {
          seen = observation(claimed, handler.handle(Task.of(claimed)));
        } catch (Throwable e) {
          seen = failure(claimed, e);
        } finally {
          held.end();
        }
        completer.add(held, seen);
      }
      case TransactionalHandler handler -> {
        try {
          completer.settled(
              held,
              ledger.complete(
                  claimed,
                  connection ->
                      observation(claimed, handler.handle(Task.of(claimed), connection))));
        } catch (LedgerException e) {
          // Not known whether it was committed. Saying "failed" settles it: an attempt that was
          // completed answers so and stays completed.
          LOG.warn("task {}: {}", claimed.task(), e.getMessage());
          completer.add(held, failure(claimed, e));
        } finally {
          held.end();
        }
      }
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

  private static Observation failure(ClaimedTask claimed, Throwable e) {
    return Observation.failed(claimed.task(), claimed.attempt(), e.toString());
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
