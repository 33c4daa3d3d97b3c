package io.escapement.dispatcher;

import io.escapement.ledger.ClaimedTask;
import io.escapement.ledger.LeaseKey;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.WorkFilter;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Claims the due work of one queue: what the {@link TaskFinder} knows to be due, as far as there is
 * room and no limit is reached.
 *
 * <p>Thread rule: {@link #runOnce} on one thread; {@link #own}, {@link #hint} and {@link #finished}
 * from any, through a mailbox that never makes them wait: hints beyond its bound are dropped and
 * the ledger is asked instead, the rest is bounded by what may be in hand. Failure: an exception of
 * the ledger ends the turn; what it was about is asked for again.
 */
final class QueueDriver {

  private static final int MAX_HINTS_WAITING = 50_000;
  private static final int MAIL_A_TURN = 1_000;
  private static final long LONGEST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final String queue;
  private final DispatcherConfig config;
  private final Claimer claimer;
  private final LongSupplier ticker;
  private final TaskFinder finder;
  private final LaneGate gate;
  private final WorkFilter work;
  private final Throttle throttle;
  private final BlockingQueue<Runnable> mailbox = new LinkedBlockingQueue<>();
  private final AtomicInteger hintsWaiting = new AtomicInteger();

  private boolean hadRoom;
  private volatile boolean stopping;
  private volatile DriverStats stats = new DriverStats(0, 0, 0, 0, 0);

  QueueDriver(
      String queue,
      DispatcherConfig config,
      Ledger ledger,
      WorkFilter work,
      Claimer claimer,
      Throttle throttle,
      LongSupplier ticker) {
    this.queue = queue;
    this.config = config;
    this.claimer = claimer;
    this.ticker = ticker;
    this.work = work;
    this.throttle = throttle;
    this.gate = new LaneGate(throttle, ledger, work, Math.max(1, config.knownLimit() / 8));
    this.finder = new TaskFinder(queue, config, ledger, gate::wanted, ticker);
  }

  /** Sizes for the statistics; throttled: due, and its kind or channel is at its limit. */
  record DriverStats(int ready, int throttled, int timers, int slots, long clockErrorNanos) {}

  String queue() {
    return queue;
  }

  DriverStats stats() {
    return stats;
  }

  /**
   * The slots that are this process's from now on; what is in hand of others goes on, fenced.
   *
   * @return counted down when the timers of the others are gone
   */
  CountDownLatch own(Set<Integer> nowOwned) {
    CountDownLatch done = new CountDownLatch(1);
    mailbox.add(
        () -> {
          finder.own(nowOwned);
          done.countDown();
        });
    return done;
  }

  /** There is work; hints may be late, repeated or wrong. */
  void hint(List<Hint> hints) {
    if (hintsWaiting.addAndGet(hints.size()) > MAX_HINTS_WAITING) {
      hintsWaiting.addAndGet(-hints.size());
      mailbox.add(finder::missSome);
      return;
    }
    mailbox.add(
        () -> {
          hintsWaiting.addAndGet(-hints.size());
          finder.hint(hints);
        });
  }

  /**
   * Hints may have been lost, or told of what is not so: the ledger is asked for everything anew.
   */
  void reload() {
    mailbox.add(finder::reload);
  }

  /** An attempt in hand is settled; its task is due again at a moment, or never. */
  void finished(ClaimedTask attempt, @Nullable Instant dueAgain) {
    mailbox.add(() -> finder.release(attempt, dueAgain));
  }

  /** A handler has ended, so there is room for another. */
  void handlerEnded() {
    if (mailbox.isEmpty()) {
      mailbox.add(() -> {});
    }
  }

  /** Claims nothing more from now on. */
  void stopClaiming() {
    stopping = true;
    mailbox.add(() -> {});
  }

  /** Takes in hand what a claim holds whose answer was lost; when the loop has ended. */
  void recoverLostClaim() {
    claimer.recover(this);
  }

  /** One turn: mail, timers, ledger, claims; then a wait until there may be something to do. */
  int runOnce() throws InterruptedException {
    int done = readMail();
    claimer.recover(this);
    if (finder.slots() == 0) {
      stats = new DriverStats(0, 0, 0, 0, finder.clockErrorNanos());
      waitForMail(LONGEST_WAIT_NANOS);
      return done;
    }
    done += finder.runOnce();
    if (!stopping) {
      done += claim();
    }
    stats =
        new DriverStats(
            finder.ready() + gate.putOff(),
            gate.waiting(),
            finder.timers(),
            finder.slots(),
            finder.clockErrorNanos());
    if (done == 0) {
      // Without room nothing starts before something ends, which is told.
      long gateNanos = hadRoom ? gate.idleNanos(ticker.getAsLong()) : Long.MAX_VALUE;
      waitForMail(Math.min(finder.idleNanos(), gateNanos));
    }
    return done;
  }

  private int claim() {
    int handlers = claimer.startable();
    int wanted = Math.min(config.claimBatch(), finder.ready() + gate.waiting() + gate.putOff());
    int room = claimer.reserve(throttle.isIdle() ? Math.min(wanted, handlers) : wanted);
    hadRoom = room > 0;
    if (!hadRoom) {
      return 0;
    }
    Map<Long, Throttle.@Nullable Permit> chosen = new LinkedHashMap<>();
    int looked;
    try {
      looked = gate.choose(finder, room, handlers, chosen, ticker.getAsLong());
    } catch (RuntimeException | Error e) {
      Claimer.annul(chosen);
      unclaimed(List.copyOf(chosen.keySet()));
      claimer.unreserve(room);
      throw e;
    }
    claimer.unreserve(room - chosen.size());
    return chosen.isEmpty() ? looked : looked + claimer.claim(chosen, work, this);
  }

  /** The claimer has it. */
  void nowInHand(LeaseKey attempt) {
    finder.nowInHand(attempt);
  }

  /** The ledger says that it is due only then. */
  void notDue(long task, Instant dueAt) {
    finder.notDue(task, dueAt);
  }

  /** There is nothing to be had of it. */
  void gone(long task) {
    finder.forget(task);
  }

  /** A claim's fate is not known; the sweep finds what is still waiting. */
  void unclaimed(List<Long> tasks) {
    tasks.forEach(finder::forget);
    finder.missSome();
  }

  private int readMail() {
    int read = 0;
    Runnable mail = mailbox.poll();
    while (mail != null) {
      mail.run();
      read++;
      mail = read < MAIL_A_TURN ? mailbox.poll() : null;
    }
    return read;
  }

  private void waitForMail(long nanos) throws InterruptedException {
    Runnable mail = nanos <= 0 ? mailbox.poll() : mailbox.poll(nanos, TimeUnit.NANOSECONDS);
    if (mail != null) {
      mail.run();
    }
  }
}
