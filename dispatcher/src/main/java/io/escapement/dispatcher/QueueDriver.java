package io.escapement.dispatcher;

import io.escapement.dispatcher.KnownTasks.Armed;
import io.escapement.dispatcher.KnownTasks.Known;
import io.escapement.dispatcher.KnownTasks.Phase;
import io.escapement.ledger.Horizon;
import io.escapement.ledger.Ledger;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
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
 * <p>Cost when idle: three statements a sweep, two more a half horizon. Ordering: fired tasks are
 * served by the {@link ReadySet}. Thread rule: {@link #runOnce} on one thread; {@link #own}, {@link
 * #hint} and {@link #finished} from any, through a bounded mailbox. Failure: an exception of the
 * ledger ends the turn; what it was about is asked for again.
 */
final class QueueDriver {

  private static final Logger LOG = LoggerFactory.getLogger(QueueDriver.class);
  private static final int MAILBOX = 10_000;
  private static final int MAIL_A_TURN = 1_000;
  private static final int FIRE_A_TURN = 10_000;
  private static final long UNKNOWN = Long.MIN_VALUE;
  private static final long WEIGHING_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long LONGEST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** Between two loads that were cut short by their limit. */
  private static final long SHORTEST_RELOAD_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /** A clock that runs back by more is another clock. */
  private static final long CLOCK_STEP_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final String queue;
  private final DispatcherConfig config;
  private final Ledger ledger;
  private final Set<String> kinds;
  private final Claimer claimer;
  private final BlockingQueue<Runnable> mailbox = new LinkedBlockingQueue<>(MAILBOX);
  private final DatabaseClock clock = new DatabaseClock();
  private final ReadySet ready = new ReadySet();

  private volatile boolean stopping;
  private volatile DriverStats stats = new DriverStats(0, 0, 0);

  private Set<Integer> slots = Set.of();
  private @Nullable KnownTasks known;
  private long wheelNanos;

  /** Every task of the slots that is due before this moment is known. */
  private long completeUntilNanos = UNKNOWN;

  private long lastLoadNanos;
  private long nextSweepNanos;
  private long nextWeighingNanos;
  private boolean reclaimNow;

  QueueDriver(
      String queue,
      DispatcherConfig config,
      Ledger ledger,
      Set<String> kinds,
      ClaimerFactory claimers) {
    this.queue = queue;
    this.config = config;
    this.ledger = ledger;
    this.kinds = kinds;
    this.claimer = claimers.create(this);
    this.nextSweepNanos = System.nanoTime();
    this.nextWeighingNanos = nextSweepNanos;
  }

  /** Makes a driver's claimer. */
  @FunctionalInterface
  interface ClaimerFactory {
    Claimer create(QueueDriver driver);
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
    post(() -> changeSlots(nowOwned));
  }

  /** There is work; hints may be late, repeated or wrong. */
  void hint(List<Hint> hints) {
    post(() -> hints.forEach(h -> armWithinHorizon(h.task(), h.tenant(), h.slot(), h.dueNanos())));
  }

  /** A task in hand is settled; it is due again at a moment, or never. */
  void finished(long task, @Nullable Instant dueAgain) {
    post(() -> release(task, dueAgain));
  }

  /** Claims nothing more from now on. */
  void stopClaiming() {
    stopping = true;
    post(() -> {});
  }

  /** One turn: mail, timers, ledger, claims; then a wait until there may be something to do. */
  int runOnce() throws InterruptedException {
    int done = readMail();
    if (slots.isEmpty()) {
      stats = new DriverStats(0, 0, 0);
      waitForMail(LONGEST_WAIT_NANOS);
      return done;
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
    }
  }

  private void load() {
    lastLoadNanos = System.nanoTime();
    if (lastLoadNanos - nextWeighingNanos >= 0) {
      ready.weigh(ledger.tenantWeights());
      nextWeighingNanos = lastLoadNanos + WEIGHING_NANOS;
    }
    Instant now =
        clock.isSet() ? DatabaseClock.instant(clock.nanosAt(System.nanoTime())) : readClock();
    completeUntilNanos = read(now.plus(config.horizon()));
  }

  private Instant readClock() {
    long sent = System.nanoTime();
    Instant now = ledger.clock();
    clock.read(now, sent, System.nanoTime());
    return now;
  }

  /** Arms what the ledger has until a moment; answers until when that is everything. */
  private long read(Instant until) {
    long sent = System.nanoTime();
    int limit = known == null ? config.knownLimit() : Math.max(1, known.room());
    Horizon horizon = ledger.horizon(queue, slots, kinds, until, limit);
    clock.read(horizon.readAt(), sent, System.nanoTime());
    requireSteadyClock();
    if (known == null) {
      wheelNanos = clock.nanosAt(System.nanoTime());
      known = new KnownTasks(config.knownLimit(), wheelNanos);
    }
    long complete = DatabaseClock.epochNanos(horizon.completeUntil());
    for (Horizon.Entry entry : horizon.entries()) {
      if (arm(entry) == Armed.FULL) {
        complete = Math.min(complete, DatabaseClock.epochNanos(entry.wakeAt()));
      }
    }
    return complete;
  }

  /** A wheel does not run back: under a clock that did, everything is read again. */
  private void requireSteadyClock() {
    KnownTasks tasks = known;
    if (tasks != null && clock.nanosAt(System.nanoTime()) < wheelNanos - CLOCK_STEP_NANOS) {
      LOG.warn("queue {}: the database's clock ran back; loading its tasks again", queue);
      known = null;
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
    if (tasks == null) {
      return true;
    }
    long now = System.nanoTime();
    boolean runsOut =
        completeUntilNanos == UNKNOWN
            || completeUntilNanos - clock.nanosAt(now) < config.horizon().toNanos() / 2;
    boolean roomy = tasks.room() > config.knownLimit() / 2;
    return runsOut && roomy && now - lastLoadNanos >= SHORTEST_RELOAD_NANOS;
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
    } else {
      tasks.move(one, Phase.READY);
      ready.add(task, one.tenant, dueNanos);
    }
  }

  private int claim(KnownTasks tasks) {
    claimer.recover(this);
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
    return wanted.isEmpty() ? 0 : claimer.claim(List.copyOf(wanted), kinds, this);
  }

  /** The claimer has it. */
  void nowInHand(long task) {
    Known one = known == null ? null : known.get(task);
    if (one != null && known != null) {
      known.move(one, Phase.IN_HAND);
    }
  }

  /** The ledger says that it is due only then. */
  void notDue(long task, Instant dueAt) {
    Known one = known == null ? null : known.get(task);
    if (one != null && known != null) {
      known.forget(task);
      clock.reset();
      readClock();
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

  private void release(long task, @Nullable Instant dueAgain) {
    Known one = known == null ? null : known.get(task);
    if (one == null || known == null) {
      return;
    }
    known.forget(task);
    if (dueAgain != null) {
      armWithinHorizon(task, one.tenant, one.slot, DatabaseClock.epochNanos(dueAgain));
    }
  }

  /** Arms a timer for what the ledger will not be asked about again. */
  private void armWithinHorizon(long task, String tenant, int slot, long wakeNanos) {
    // What is due later comes with the next load.
    if (completeUntilNanos == UNKNOWN || wakeNanos <= completeUntilNanos) {
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
    Armed armed = tasks.arm(task, tenant, slot, wakeNanos, lease);
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

  private void post(Runnable mail) {
    try {
      // Bounded; a driver that has ended reads no more, and then nobody needs to be told.
      if (!mailbox.offer(mail, Duration.ofSeconds(30).toNanos(), TimeUnit.NANOSECONDS)) {
        LOG.warn("queue {}: the driver does not read its mail", queue);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
