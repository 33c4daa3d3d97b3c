package io.escapement.dispatcher;

import io.escapement.dispatcher.KnownTasks.Armed;
import io.escapement.dispatcher.KnownTasks.Known;
import io.escapement.dispatcher.KnownTasks.Phase;
import io.escapement.ledger.Horizon;
import io.escapement.ledger.LeaseKey;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.WorkFilter;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the due work of one queue without polling for it: timers for what the ledger says is due
 * within the horizon, hints for what is new, a sweep for what is overdue.
 *
 * <p>Everything it knows is a cache of the ledger. It may forget all of it at any time and lose
 * only latency.
 *
 * <p>Cost when idle: three statements a sweep, two more a half horizon. While others run tasks of
 * slots that have become ours, a sweep at the end of each lease that was known and a load a second
 * at most. Ordering: fired tasks are served by the {@link ReadySet}. Thread rule: {@link #runOnce}
 * on one thread; {@link #own}, {@link #hint} and {@link #finished} from any, through a mailbox that
 * never makes them wait: hints beyond its bound are dropped and the ledger is asked instead, the
 * rest is bounded by what may be in hand. Failure: an exception of the ledger ends the turn; what
 * it was about is asked for again.
 */
final class QueueDriver {

  private static final Logger LOG = LoggerFactory.getLogger(QueueDriver.class);
  private static final int MAX_HINTS_WAITING = 50_000;
  private static final int MAIL_A_TURN = 1_000;
  private static final int FIRE_A_TURN = 10_000;
  private static final long UNKNOWN = Long.MIN_VALUE;
  private static final long WEIGHING_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long LONGEST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** Between two loads that were cut short by their limit. */
  private static final long SHORTEST_RELOAD_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /** After a load that brought nothing new. */
  private static final long VAIN_RELOAD_NANOS = TimeUnit.SECONDS.toNanos(1);

  /**
   * Between two loads for leases that others renew: tasks that they took before we had the slot.
   */
  private static final long LEASE_RELOAD_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** A clock that runs back by more is another clock. */
  private static final long CLOCK_STEP_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final String queue;
  private final DispatcherConfig config;
  private final Ledger ledger;
  private final WorkFilter work;
  private final Claimer claimer;
  private final BlockingQueue<Runnable> mailbox = new LinkedBlockingQueue<>();
  private final AtomicInteger hintsWaiting = new AtomicInteger();
  private final DatabaseClock clock = new DatabaseClock();
  private final ReadySet ready = new ReadySet();

  private volatile boolean stopping;
  private volatile DriverStats stats = new DriverStats(0, 0, 0);

  private Set<Integer> slots = Set.of();
  private @Nullable KnownTasks known;
  private long wheelNanos;

  /** Every task of the slots that is due before this moment is known. */
  private long completeUntilNanos = UNKNOWN;

  private long nextLoadNanos;
  private long nextSweepNanos;
  private long nextWeighingNanos;
  private long lastLoadNanos;
  private boolean reclaimNow;

  /** A timer for the end of another's lease has fired; if that was renewed, its end is unknown. */
  private boolean leasesUnknown;

  private boolean clockSuspect;

  QueueDriver(
      String queue, DispatcherConfig config, Ledger ledger, WorkFilter work, Claimer claimer) {
    this.queue = queue;
    this.config = config;
    this.ledger = ledger;
    this.work = work;
    this.claimer = claimer;
    this.nextSweepNanos = System.nanoTime();
    this.nextWeighingNanos = nextSweepNanos;
    this.nextLoadNanos = nextSweepNanos;
  }

  /** Sizes for the statistics. */
  record DriverStats(int ready, int timers, int slots) {}

  String queue() {
    return queue;
  }

  DriverStats stats() {
    return stats;
  }

  /** The slots that are this process's from now on; what is in hand of others goes on, fenced. */
  void own(Set<Integer> nowOwned) {
    mailbox.add(() -> changeSlots(nowOwned));
  }

  /** There is work; hints may be late, repeated or wrong. */
  void hint(List<Hint> hints) {
    if (hintsWaiting.addAndGet(hints.size()) > MAX_HINTS_WAITING) {
      hintsWaiting.addAndGet(-hints.size());
      mailbox.add(() -> completeUntilNanos = UNKNOWN);
      return;
    }
    mailbox.add(
        () -> {
          hintsWaiting.addAndGet(-hints.size());
          for (Hint hint : hints) {
            armWithinHorizon(hint.task(), hint.tenant(), hint.slot(), hint.dueNanos());
          }
        });
  }

  /**
   * Hints may have been lost, or told of what is not so: the ledger is asked for everything anew.
   */
  void reload() {
    mailbox.add(
        () -> {
          completeUntilNanos = UNKNOWN;
          nextSweepNanos = System.nanoTime();
          nextLoadNanos = nextSweepNanos;
        });
  }

  /** An attempt in hand is settled; its task is due again at a moment, or never. */
  void finished(LeaseKey attempt, @Nullable Instant dueAgain) {
    mailbox.add(() -> release(attempt, dueAgain));
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
    if (slots.isEmpty()) {
      stats = new DriverStats(0, 0, 0);
      waitForMail(LONGEST_WAIT_NANOS);
      return done;
    }
    if (clockSuspect) {
      readClockAnew();
    }
    if (wantsLoad()) {
      load();
    }
    if (System.nanoTime() - nextSweepNanos >= 0 || reclaimNow) {
      sweep();
    }
    KnownTasks tasks = known;
    if (tasks == null) {
      return done;
    }
    done += turnWheel(tasks);
    if (!stopping) {
      done += claim(tasks);
    }
    stats = new DriverStats(ready.size(), tasks.timers(), slots.size());
    if (done == 0) {
      waitForMail(idleNanos(tasks));
    }
    return done;
  }

  private void changeSlots(Set<Integer> nowOwned) {
    boolean more = !slots.containsAll(nowOwned);
    slots = new TreeSet<>(nowOwned);
    LOG.info("queue {}: {} slots", queue, slots.size());
    KnownTasks tasks = known;
    if (tasks != null) {
      tasks.keepOnly(slots);
    }
    if (more) {
      completeUntilNanos = UNKNOWN;
      nextSweepNanos = System.nanoTime();
      nextLoadNanos = nextSweepNanos;
    }
  }

  private void load() {
    long start = System.nanoTime();
    nextLoadNanos = start + SHORTEST_RELOAD_NANOS;
    lastLoadNanos = start;
    leasesUnknown = false;
    if (start - nextWeighingNanos >= 0) {
      ready.weigh(ledger.tenantWeights());
      nextWeighingNanos = start + WEIGHING_NANOS;
    }
    if (!clock.isSet()) {
      readClockAnew();
    }
    int before = known == null ? 0 : known.size();
    Instant now = DatabaseClock.instant(clock.nanosAt(System.nanoTime()));
    completeUntilNanos = read(now.plus(config.horizon()));
    if (known != null && known.size() == before) {
      nextLoadNanos = start + VAIN_RELOAD_NANOS;
    }
  }

  /** Forgets the earlier readings, once there is a new one. */
  private void readClockAnew() {
    long sent = System.nanoTime();
    Instant now = ledger.clock();
    clock.reset();
    clock.read(now, sent, System.nanoTime());
    clockSuspect = false;
    requireSteadyClock();
  }

  /** Arms what the ledger has until a moment; answers until when that is everything. */
  private long read(Instant until) {
    long sent = System.nanoTime();
    int limit = known == null ? config.knownLimit() : Math.max(1, known.room());
    Horizon horizon = ledger.horizon(queue, slots, work, until, limit);
    clock.read(horizon.readAt(), sent, System.nanoTime());
    requireSteadyClock();
    if (known == null) {
      wheelNanos = clock.nanosAt(System.nanoTime());
      known = new KnownTasks(config.knownLimit(), wheelNanos);
    }
    long readNanos = DatabaseClock.epochNanos(horizon.readAt());
    long complete = DatabaseClock.epochNanos(horizon.completeUntil());
    for (Horizon.Entry entry : horizon.entries()) {
      long wake = DatabaseClock.epochNanos(entry.wakeAt());
      // A lease that has ended is the next sweep's; a timer for it would fire over and over while
      // its row is locked.
      boolean ended = entry.claimed() && wake <= readNanos;
      if (!ended && arm(entry) == Armed.FULL) {
        complete = Math.min(complete, wake);
      }
    }
    return complete;
  }

  /** A wheel does not run back: under a clock that did, everything is read again. */
  private void requireSteadyClock() {
    KnownTasks tasks = known;
    if (tasks != null && clock.nanosAt(System.nanoTime()) < wheelNanos - CLOCK_STEP_NANOS) {
      LOG.warn("queue {}: the database's clock ran back; loading its tasks again", queue);
      wheelNanos = clock.nanosAt(System.nanoTime());
      known = tasks.onlyInHand(wheelNanos);
      ready.clear();
      completeUntilNanos = UNKNOWN;
    }
  }

  private void sweep() {
    reclaimNow = false;
    nextSweepNanos = System.nanoTime() + config.sweep().toNanos();
    for (Horizon.Entry entry : ledger.reclaim(queue, slots, config.claimBatch())) {
      arm(entry);
    }
    ledger.fold();
    if (clock.isSet()) {
      read(DatabaseClock.instant(clock.nanosAt(System.nanoTime())));
    }
  }

  private boolean wantsLoad() {
    KnownTasks tasks = known;
    if (tasks == null || !clock.isSet()) {
      return true;
    }
    long now = System.nanoTime();
    boolean runsOut =
        completeUntilNanos == UNKNOWN
            || completeUntilNanos - clock.nanosAt(now) < config.horizon().toNanos() / 2;
    boolean leases = leasesUnknown && now - lastLoadNanos >= LEASE_RELOAD_NANOS;
    boolean roomy = tasks.room() > config.knownLimit() / 2;
    return (runsOut || leases) && roomy && now - nextLoadNanos >= 0;
  }

  private int turnWheel(KnownTasks tasks) {
    wheelNanos = Math.max(wheelNanos, clock.nanosAt(System.nanoTime()));
    return tasks.advance(
        wheelNanos, FIRE_A_TURN, (task, dueNanos, handle) -> fire(tasks, task, dueNanos));
  }

  private void fire(KnownTasks tasks, long task, long dueNanos) {
    Known one = tasks.get(task);
    if (one == null) {
      return;
    }
    if (one.phase == Phase.LEASE_TIMER) {
      tasks.move(one, Phase.LEASE_TIMER);
      tasks.forget(task);
      reclaimNow = true;
      leasesUnknown = true;
    } else {
      tasks.move(one, Phase.READY);
      ready.add(task, one.tenant, dueNanos);
    }
  }

  private int claim(KnownTasks tasks) {
    int room = claimer.reserve(Math.min(config.claimBatch(), ready.size()));
    // A set: a task whose slot went and came back may stand in the ready set twice.
    Set<Long> wanted = new LinkedHashSet<>();
    while (wanted.size() < room) {
      Long task = ready.poll();
      if (task == null) {
        break;
      }
      Known one = tasks.get(task);
      if (one != null && one.phase == Phase.READY) {
        wanted.add(task);
      }
    }
    claimer.unreserve(room - wanted.size());
    return wanted.isEmpty() ? 0 : claimer.claim(List.copyOf(wanted), work, this);
  }

  /** The claimer has it. */
  void nowInHand(LeaseKey attempt) {
    Known one = known == null ? null : known.get(attempt.task());
    if (one != null && known != null) {
      known.takeInHand(one, attempt.attempt());
    }
  }

  /** The ledger says that it is due only then. */
  void notDue(long task, Instant dueAt) {
    Known one = known == null ? null : known.get(task);
    if (one != null && known != null) {
      known.forget(task);
      clockSuspect = true;
      armWithinHorizon(task, one.tenant, one.slot, DatabaseClock.epochNanos(dueAt));
    }
  }

  /** There is nothing to be had of it. */
  void gone(long task) {
    if (known != null) {
      known.forget(task);
    }
  }

  /** A claim's fate is not known; the sweep finds what is still waiting. */
  void unclaimed(List<Long> tasks) {
    for (Long task : tasks) {
      gone(task);
    }
    completeUntilNanos = UNKNOWN;
  }

  private void release(LeaseKey attempt, @Nullable Instant dueAgain) {
    Known one = known == null ? null : known.get(attempt.task());
    if (one == null || known == null || one.attempt != attempt.attempt()) {
      return;
    }
    known.forget(attempt.task());
    if (dueAgain != null) {
      armWithinHorizon(attempt.task(), one.tenant, one.slot, DatabaseClock.epochNanos(dueAgain));
    }
  }

  /** Arms a timer for what the ledger will not be asked about again. */
  private void armWithinHorizon(long task, String tenant, int slot, long wakeNanos) {
    // What is due later comes with the next load.
    long end =
        completeUntilNanos == UNKNOWN
            ? wheelNanos + config.horizon().toNanos()
            : completeUntilNanos;
    if (wakeNanos <= end) {
      arm(task, tenant, slot, wakeNanos, false);
    }
  }

  private Armed arm(Horizon.Entry entry) {
    return arm(
        entry.task(),
        entry.tenant(),
        entry.slot(),
        DatabaseClock.epochNanos(entry.wakeAt()),
        entry.claimed());
  }

  private Armed arm(long task, String tenant, int slot, long wakeNanos, boolean lease) {
    KnownTasks tasks = known;
    if (tasks == null || !slots.contains(slot)) {
      return Armed.KNOWN;
    }
    boolean later = wakeNanos > wheelNanos;
    Armed armed = tasks.arm(task, tenant, slot, wakeNanos, lease, later);
    if (armed == Armed.FULL) {
      completeUntilNanos = Math.min(completeUntilNanos, wakeNanos);
    }
    return armed;
  }

  private long idleNanos(KnownTasks tasks) {
    long now = System.nanoTime();
    long untilSweep = nextSweepNanos - now;
    long untilTimer = LONGEST_WAIT_NANOS;
    long next = tasks.nextWakeNanos();
    if (next != Long.MAX_VALUE) {
      untilTimer = next - clock.nanosAt(now);
    }
    return Math.max(0, Math.min(LONGEST_WAIT_NANOS, Math.min(untilSweep, untilTimer)));
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
