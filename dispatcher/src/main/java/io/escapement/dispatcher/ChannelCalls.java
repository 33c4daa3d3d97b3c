package io.escapement.dispatcher;

import io.escapement.ledger.ClaimedTask;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.LedgerException;
import io.escapement.ledger.Observation;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the calls of external channels, each on a virtual thread, and observes what came of them.
 *
 * <p>A call begins only if it fits into what is left of its lease, and is never interrupted because
 * the lease was lost or a cancellation was asked for: what it learns is worth knowing either way.
 * One that does not end in time is interrupted and observed as a time-out; its permit stays taken
 * until it really ends, so a channel that hangs holds up itself and nothing else. Bounded by what
 * may be in hand and by the channels' limits. Thread rule: any thread.
 */
final class ChannelCalls {

  private static final Logger LOG = LoggerFactory.getLogger(ChannelCalls.class);

  /** So many calls in a row that say we are not known pause the channel. */
  static final int UNAUTHORIZED_LIMIT = 5;

  private static final Duration LONGEST_MARGIN = Duration.ofSeconds(1);
  private static final long AFTER_STOP_MILLIS = 500;
  private static final double POSTPONE_SPREAD = 0.2;

  /** Whether a call has been made. */
  private enum Phase {
    WAITING,
    BEGUN,
    GIVEN_UP
  }

  /** The call was not made. */
  private static final class NotBegunException extends Exception {
    private static final long serialVersionUID = 1;
  }

  private final Channels channels;
  private final Breakers breakers;
  private final Ledger ledger;
  private final Completer completer;
  private final ExecutorService threads =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("escapement-call-", 0).factory());
  private final AtomicInteger overdue = new AtomicInteger();
  private final Map<String, AtomicInteger> unauthorized = new ConcurrentHashMap<>();

  ChannelCalls(Channels channels, Breakers breakers, Ledger ledger, Completer completer) {
    this.channels = channels;
    this.breakers = breakers;
    this.ledger = ledger;
    this.completer = completer;
  }

  /** Calls that run on though their time is over. */
  int overdue() {
    return overdue.get();
  }

  /** Makes a call, now. */
  void submit(Held held) {
    try {
      threads.execute(() -> run(held));
    } catch (RejectedExecutionException stopped) {
      handBack(held);
    }
  }

  /** Interrupts what still runs and waits for it, a bounded time. */
  boolean stop(Duration atMost) throws InterruptedException {
    threads.shutdownNow();
    return threads.awaitTermination(atMost.toNanos(), TimeUnit.NANOSECONDS);
  }

  private void handBack(Held held) {
    held.neverBegan();
    completer.add(held, Observation.released(held.key().task(), held.key().attempt()));
  }

  /** Hands back until its destination may be called again; not all of them at the same moment. */
  private void postpone(Held held, String destination) {
    held.neverBegan();
    Duration left = breakers.left(held.claimed().channel(), destination);
    double spread = 1 + ThreadLocalRandom.current().nextDouble() * POSTPONE_SPREAD;
    completer.add(
        held,
        Observation.postponed(
            held.key().task(),
            held.key().attempt(),
            "held back: " + destination + " does not answer",
            Duration.ofMillis((long) (left.toMillis() * spread))));
  }

  private void run(Held held) {
    ClaimedTask claimed = held.claimed();
    Breakers.Pass pass = null;
    AtomicReference<Phase> phase = new AtomicReference<>(Phase.WAITING);
    try {
      if (!held.beginCall()) {
        handBack(held);
        return;
      }
      Channel channel = channels.get(claimed.channel());
      Call call =
          new Call(Task.of(claimed), claimed.address(), claimed.uncertain(), timeout(claimed));
      String destination = channel.destination(call);
      pass = pass(held, destination);
      if (pass == null) {
        postpone(held, destination);
        return;
      }
      switch (claimed.action()) {
        case SEND -> send(held, channel, call, pass, phase, destination);
        case QUERY -> query(held, channel, call, pass, phase);
        case RUN -> throw new IllegalStateException("a call for work in the database");
      }
    } catch (NotBegunException | RejectedExecutionException notBegun) {
      // Its answer might have come when the task is another's, or nothing begins any more.
      unused(pass);
      handBack(held);
    } catch (Throwable e) {
      // The channel's own code, before or after the call: what is not known is not guessed.
      LOG.warn("channel {}: {}", claimed.channel(), HandlerPool.describe(e));
      if (phase.get() == Phase.BEGUN) {
        unused(pass);
        held.endCall();
        completer.add(held, unknown(claimed, HandlerPool.describe(e)));
      } else {
        unused(pass);
        completer.add(
            held,
            Observation.postponed(
                claimed.task(), claimed.attempt(), HandlerPool.describe(e), LONGEST_MARGIN));
        held.neverBegan();
      }
    }
  }

  private static void unused(Breakers.@Nullable Pass pass) {
    if (pass != null) {
      pass.unused();
    }
  }

  private static Observation unknown(ClaimedTask claimed, String why) {
    Observation.Seen seen =
        claimed.action() == ClaimedTask.Action.QUERY
            ? Observation.Seen.QUERY_FAILED
            : Observation.Seen.IO_ERROR;
    return Observation.of(claimed.task(), claimed.attempt(), seen, why);
  }

  private Breakers.@Nullable Pass pass(Held held, String destination) {
    Breakers.Pass ofChannel = held.pass();
    if (destination.isEmpty() && ofChannel != null) {
      return ofChannel;
    }
    if (ofChannel != null) {
      ofChannel.unused();
    }
    return breakers.pass(held.claimed().channel(), destination);
  }

  private void send(
      Held held,
      Channel channel,
      Call call,
      Breakers.Pass pass,
      AtomicReference<Phase> phase,
      String destination)
      throws NotBegunException {
    ClaimedTask claimed = held.claimed();
    long from = System.nanoTime();
    SendResult result;
    try {
      result = Objects.requireNonNull(within(held, () -> channel.send(call), phase), "no result");
    } catch (TimeoutException e) {
      result = new SendResult.Timeout("no answer within " + call.timeout());
    } catch (InterruptedException e) {
      result = new SendResult.IoError("the dispatcher stopped before there was an answer");
    } catch (ExecutionException e) {
      result = new SendResult.IoError(describe(e));
    }
    long took = System.nanoTime() - from;
    switch (result) {
      case SendResult.Accepted a -> pass.succeeded(took);
      case SendResult.Replayed r -> pass.succeeded(took);
      case SendResult.Rejected r -> pass.succeeded(took);
      case SendResult.Refused r -> pass.failed(took);
      case SendResult.Unauthorized u -> pass.failed(took);
      case SendResult.Timeout t -> pass.failed(took);
      case SendResult.IoError e -> pass.failed(took);
      case SendResult.Unclear u -> pass.failed(took);
    }
    held.endCall();
    completer.add(held, observation(claimed.task(), claimed.attempt(), result));
    if (destination.isEmpty()) {
      countUnauthorized(claimed.channel(), result);
    }
  }

  private void query(
      Held held, Channel channel, Call call, Breakers.Pass pass, AtomicReference<Phase> phase)
      throws NotBegunException {
    ClaimedTask claimed = held.claimed();
    long from = System.nanoTime();
    QueryResult result;
    try {
      result = Objects.requireNonNull(within(held, () -> channel.query(call), phase), "no result");
    } catch (TimeoutException e) {
      result = new QueryResult.Failed("no answer within " + call.timeout());
    } catch (InterruptedException e) {
      result = new QueryResult.Failed("the dispatcher stopped before there was an answer");
    } catch (ExecutionException e) {
      result = new QueryResult.Failed(describe(e));
    }
    long took = System.nanoTime() - from;
    switch (result) {
      case QueryResult.Found found -> pass.succeeded(took);
      case QueryResult.NotFound notFound -> pass.succeeded(took);
      case QueryResult.Failed failed -> pass.failed(took);
    }
    held.endCall();
    completer.add(held, observation(claimed.task(), claimed.attempt(), result));
  }

  /**
   * Runs a call on a thread of its own, so that one that ignores its time is left behind.
   *
   * @throws NotBegunException if too little of the lease was left when it was about to begin
   */
  private <T> T within(Held held, Callable<T> body, AtomicReference<Phase> phase)
      throws InterruptedException, ExecutionException, TimeoutException, NotBegunException {
    Duration timeout = timeout(held.claimed());
    Duration margin = margin(held.claimed().lease(), timeout);
    AtomicInteger late = new AtomicInteger();
    CompletableFuture<T> answer = new CompletableFuture<>();
    Future<?> running =
        threads.submit(
            () -> {
              // The last moment before the call: whoever has given up by now must not be called.
              if (held.leaseLeft().compareTo(timeout.plus(margin)) <= 0) {
                answer.completeExceptionally(new NotBegunException());
                return;
              }
              if (!phase.compareAndSet(Phase.WAITING, Phase.BEGUN)) {
                return;
              }
              try {
                answer.complete(body.call());
              } catch (Throwable e) {
                answer.completeExceptionally(e);
              } finally {
                held.callReturned();
                overdue.addAndGet(-late.getAndSet(-1));
              }
            });
    try {
      return answer.get(timeout.plus(margin.dividedBy(2)).toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      requireBegun(phase);
      if (late.compareAndSet(0, 1)) {
        overdue.incrementAndGet();
      }
      running.cancel(true);
      throw e;
    } catch (InterruptedException e) {
      requireBegun(phase);
      // The stop interrupts the call itself as well; it may still say what it knows.
      try {
        return answer.get(AFTER_STOP_MILLIS, TimeUnit.MILLISECONDS);
      } catch (TimeoutException silent) {
        throw e;
      }
    } catch (ExecutionException e) {
      if (e.getCause() instanceof NotBegunException notBegun) {
        throw notBegun;
      }
      throw e;
    }
  }

  /** Gives a call up that has not begun: it will not. */
  private static void requireBegun(AtomicReference<Phase> phase) throws NotBegunException {
    if (phase.compareAndSet(Phase.WAITING, Phase.GIVEN_UP)) {
      throw new NotBegunException();
    }
  }

  private void countUnauthorized(String channel, SendResult result) {
    AtomicInteger inRow = unauthorized.computeIfAbsent(channel, name -> new AtomicInteger());
    if (!(result instanceof SendResult.Unauthorized not)) {
      inRow.set(0);
      return;
    }
    if (inRow.incrementAndGet() == UNAUTHORIZED_LIMIT) {
      inRow.set(0);
      String why =
          "its provider refused our credentials "
              + UNAUTHORIZED_LIMIT
              + " times in a row: "
              + not.why();
      try {
        if (ledger.suspend(channel, why)) {
          LOG.error("channel {} is paused: {}. Put them right, then resume it", channel, why);
        }
      } catch (LedgerException e) {
        LOG.warn("channel {} could not be paused: {}", channel, e.getMessage());
      }
    }
  }

  private static String describe(ExecutionException e) {
    Throwable cause = e.getCause();
    return HandlerPool.describe(cause == null ? e : cause);
  }

  private static Duration timeout(ClaimedTask claimed) {
    Duration timeout = claimed.timeout();
    if (timeout == null) {
      throw new IllegalStateException("channel " + claimed.channel() + " has no time-out");
    }
    return timeout;
  }

  /** Half of what the lease is longer than the call may take: the claim and the report need it. */
  static Duration margin(Duration lease, Duration timeout) {
    Duration half = lease.minus(timeout).dividedBy(2);
    return half.compareTo(LONGEST_MARGIN) < 0 ? half : LONGEST_MARGIN;
  }

  private static Observation observation(long task, int attempt, SendResult result) {
    return switch (result) {
      case SendResult.Accepted a -> Observation.accepted(task, attempt, a.messageId());
      case SendResult.Replayed r -> Observation.replayed(task, attempt, r.messageId());
      case SendResult.Refused r -> Observation.refused(task, attempt, r.why(), r.retryAfter());
      case SendResult.Unauthorized u ->
          u.surelyNot()
              ? Observation.refused(task, attempt, u.why(), u.retryAfter())
              : Observation.of(task, attempt, Observation.Seen.UNCLEAR, u.why());
      case SendResult.Rejected r ->
          Observation.of(task, attempt, Observation.Seen.REJECTED, r.why());
      case SendResult.Timeout t -> Observation.of(task, attempt, Observation.Seen.TIMEOUT, t.why());
      case SendResult.IoError e ->
          Observation.of(task, attempt, Observation.Seen.IO_ERROR, e.why());
      case SendResult.Unclear u -> Observation.of(task, attempt, Observation.Seen.UNCLEAR, u.why());
    };
  }

  private static Observation observation(long task, int attempt, QueryResult result) {
    return switch (result) {
      case QueryResult.Found f -> Observation.found(task, attempt, f.messageId());
      case QueryResult.NotFound n ->
          Observation.of(task, attempt, Observation.Seen.QUERY_NOT_FOUND, "not there");
      case QueryResult.Failed f ->
          Observation.of(task, attempt, Observation.Seen.QUERY_FAILED, f.why());
    };
  }
}
