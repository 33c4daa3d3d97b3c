package io.escapement.dispatcher;

import io.escapement.dispatcher.KnownTasks.Armed;
import io.escapement.dispatcher.KnownTasks.Known;
import io.escapement.dispatcher.KnownTasks.Phase;
import io.escapement.ledger.ClaimedTask;
import io.escapement.ledger.Horizon;
import io.escapement.ledger.LeaseKey;
import io.escapement.ledger.Ledger;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Knows which tasks of one queue's slots are due: timers for what the ledger says is due within the
 * horizon, hints for what is new, a sweep for what is overdue. Or, where {@link Discovery.Poll} is
 * asked for, by asking the ledger over and over.
 *
 * <p>Everything in it is a cache of the ledger. It may forget all of it at any time and lose only
 * latency.
 *
 * <p>Cost when idle: three statements a sweep, two more a half horizon; four a second at most while
 * others run tasks of slots that have become ours. Ordering: due tasks are served by the {@link
 * ReadySet}. Thread rule: the driver's thread. Failure: an exception of the ledger ends the turn;
 * what it was about is asked for again.
 */
final class TaskFinder {

  private static final Logger LOG = LoggerFactory.getLogger(TaskFinder.class);
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

  /** Due so soon is as good as due: this clock runs behind the database's. */
  private static final long SOON_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** A clock that runs back by more is another clock. */
  private static final long CLOCK_STEP_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final String queue;
  private final DispatcherConfig config;
  private final Ledger ledger;
  private final Supplier<LaneGate.Wanted> wanted;
  private final LongSupplier ticker;
  private final DatabaseClock clock = new DatabaseClock();
  private final ReadySet ready = new ReadySet();

  private Map<String, Integer> weights = Map.of();

  private Set<Integer> slots = Set.of();
  private @Nullable KnownTasks known;
  private long wheelNanos;

  /** Every task of the slots that is due before this moment is known. */
  private long completeUntilNanos = UNKNOWN;

  /** How far ahead the last load reached when it was made. */
  private long coveredNanos;

  private long nextLoadNanos;
  private long nextSweepNanos;
  private long nextWeighingNanos;
  private long lastLoadNanos;
  private boolean reclaimNow;

  /** A timer for the end of another's lease has fired; if that was renewed, its end is unknown. */
  private boolean leasesUnknown;

  /** The last reading did not hold everything: the next one is lane by lane. */
  private boolean crowded;

  private boolean clockSuspect;

  /**
   * One for a queue.
   *
   * @param wanted what the ledger is asked for at present
   * @param ticker the monotonic clock, in nanoseconds
   */
  TaskFinder(
      String queue,
      DispatcherConfig config,
      Ledger ledger,
      Supplier<LaneGate.Wanted> wanted,
      LongSupplier ticker) {
    this.queue = queue;
    this.config = config;
    this.ledger = ledger;
    this.wanted = wanted;
    this.ticker = ticker;
    this.nextSweepNanos = ticker.getAsLong();
    this.nextWeighingNanos = nextSweepNanos;
    this.nextLoadNanos = nextSweepNanos;
  }

  int slots() {
    return slots.size();
  }

  /** Due tasks that wait to be taken. */
  int ready() {
    return ready.size();
  }

  int timers() {
    return known == null ? 0 : known.timers();
  }

  /** How far this process's idea of the database's clock may be behind it, in nanoseconds. */
  long clockErrorNanos() {
    return clock.isSet() ? clock.errorNanos() : 0;
  }

  /** The slots that are this process's from now on. */
  void own(Set<Integer> nowOwned) {
    boolean more = !slots.containsAll(nowOwned);
    slots = new TreeSet<>(nowOwned);
    LOG.info("queue {}: {} slots", queue, slots.size());
    KnownTasks tasks = known;
    if (tasks != null) {
      tasks.keepOnly(slots);
    }
    if (more) {
      reload();
    }
  }

  /** There is work; hints may be late, repeated or wrong. */
  void hint(List<Hint> hints) {
    if (isPolling()) {
      return;
    }
    for (Hint hint : hints) {
      armWithinHorizon(hint.task(), hint.tenant(), hint.slot(), hint.dueNanos());
    }
  }

  /** What is known is not everything any more. */
  void missSome() {
    completeUntilNanos = UNKNOWN;
  }

  /** The ledger is asked for everything anew, at once. */
  void reload() {
    completeUntilNanos = UNKNOWN;
    nextSweepNanos = ticker.getAsLong();
    nextLoadNanos = nextSweepNanos;
  }

  /** Asks the ledger what has to be asked now, and turns the wheel; answers how many fired. */
  int runOnce() {
    if (clockSuspect) {
      readClockAnew();
    }
    if (wantsLoad()) {
      load();
    }
    if (ticker.getAsLong() - nextSweepNanos >= 0 || reclaimNow) {
      sweep();
    }
    KnownTasks tasks = known;
    return tasks == null ? 0 : turnWheel(tasks);
  }

  /** Takes the due task to be served next; null if there is none. */
  @Nullable Known next() {
    return next(ready);
  }

  /** Puts a task off that was taken, into a set of those that wait for the same. */
  void putOff(Known one, ReadySet waiting) {
    one.phase = Phase.READY;
    waiting.add(one.task, one.tenant, one.wakeNanos);
  }

  /** The tenants' weights; who has none weighs 1. */
  Map<String, Integer> weights() {
    return weights;
  }

  /** The same of those that were put off; what is known no more is passed over. */
  @Nullable Known next(ReadySet waiting) {
    KnownTasks tasks = known;
    for (Long task = waiting.poll(); task != null; task = waiting.poll()) {
      Known one = tasks == null ? null : tasks.get(task);
      // A task whose slot went and came back may stand in the ready set twice.
      if (one != null && one.phase == Phase.READY) {
        one.phase = Phase.TAKEN;
        return one;
      }
    }
    return null;
  }

  /** A task was claimed. */
  void nowInHand(LeaseKey attempt) {
    Known one = known == null ? null : known.get(attempt.task());
    if (one != null && known != null) {
      known.takeInHand(one, attempt.attempt());
    }
  }

  /** The ledger says that a task is due only then. */
  void notDue(long task, Instant dueAt) {
    Known one = known == null ? null : known.get(task);
    if (one != null && known != null) {
      known.forget(task);
      clockSuspect = true;
      armWithinHorizon(task, one.tenant, one.slot, DatabaseClock.epochNanos(dueAt));
    }
  }

  /** There is nothing to be had of a task. */
  void forget(long task) {
    if (known != null) {
      known.forget(task);
    }
  }

  /** An attempt is settled; its task is due again at a moment, or never. */
  void release(ClaimedTask attempt, @Nullable Instant dueAgain) {
    Known one = known == null ? null : known.get(attempt.task());
    if (known == null || (one != null && one.attempt != attempt.attempt())) {
      return;
    }
    known.forget(attempt.task());
    if (dueAgain != null) {
      armWithinHorizon(
          attempt.task(), attempt.tenant(), attempt.slot(), DatabaseClock.epochNanos(dueAgain));
    }
  }

  /** How long there is nothing to be done unless something is heard of. */
  long idleNanos() {
    long now = ticker.getAsLong();
    long until = Math.min(LONGEST_WAIT_NANOS, nextSweepNanos - now);
    if (isPolling()) {
      until = Math.min(until, nextLoadNanos - now);
    }
    KnownTasks tasks = known;
    long next = tasks == null ? Long.MAX_VALUE : tasks.nextWakeNanos();
    if (next != Long.MAX_VALUE) {
      until = Math.min(until, next - clock.nanosAt(now));
    }
    return Math.max(0, until);
  }

  private boolean isPolling() {
    return config.discovery() instanceof Discovery.Poll;
  }

  private void load() {
    long start = ticker.getAsLong();
    nextLoadNanos = start + SHORTEST_RELOAD_NANOS;
    lastLoadNanos = start;
    leasesUnknown = false;
    if (start - nextWeighingNanos >= 0) {
      weights = ledger.tenantWeights();
      ready.weigh(weights);
      nextWeighingNanos = start + WEIGHING_NANOS;
    }
    if (!clock.isSet()) {
      readClockAnew();
    }
    int before = known == null ? 0 : known.size();
    Instant now = DatabaseClock.instant(clock.nanosAt(ticker.getAsLong()));
    switch (config.discovery()) {
      case Discovery.Poll poll -> {
        read(now);
        nextLoadNanos = start + poll.interval().toNanos();
      }
      case Discovery.Wheel wheel -> {
        completeUntilNanos = read(now.plus(config.horizon()));
        coveredNanos = Math.max(0, completeUntilNanos - clock.nanosAt(ticker.getAsLong()));
        if (known != null && known.size() == before) {
          nextLoadNanos = start + VAIN_RELOAD_NANOS;
        }
      }
    }
  }

  /** Forgets the earlier readings, once there is a new one. */
  private void readClockAnew() {
    long sent = ticker.getAsLong();
    Instant now = ledger.clock();
    clock.reset();
    clock.read(now, sent, ticker.getAsLong());
    clockSuspect = false;
    requireSteadyClock();
  }

  /** Arms what the ledger has until a moment; answers until when that is everything. */
  private long read(Instant until) {
    long sent = ticker.getAsLong();
    int limit = known == null ? config.knownLimit() : Math.max(1, known.room());
    LaneGate.Wanted asked = wanted.get();
    Horizon horizon =
        ledger.horizon(queue, slots, asked.work(), until, limit, crowded, asked.withoutKinds());
    clock.read(horizon.readAt(), sent, ticker.getAsLong());
    requireSteadyClock();
    if (known == null) {
      wheelNanos = clock.nanosAt(ticker.getAsLong());
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
    crowded = complete < DatabaseClock.epochNanos(until);
    return complete;
  }

  /** A wheel does not run back: under a clock that did, everything is read again. */
  private void requireSteadyClock() {
    KnownTasks tasks = known;
    if (tasks != null && clock.nanosAt(ticker.getAsLong()) < wheelNanos - CLOCK_STEP_NANOS) {
      LOG.warn("queue {}: the database's clock ran back; loading its tasks again", queue);
      wheelNanos = clock.nanosAt(ticker.getAsLong());
      known = tasks.onlyInHand(wheelNanos);
      ready.clear();
      completeUntilNanos = UNKNOWN;
    }
  }

  private void sweep() {
    reclaimNow = false;
    nextSweepNanos = ticker.getAsLong() + config.sweep().toNanos();
    for (Horizon.Entry entry : ledger.reclaim(queue, slots, config.claimBatch())) {
      arm(entry);
    }
    ledger.fold();
    if (clock.isSet() && !isPolling()) {
      read(DatabaseClock.instant(clock.nanosAt(ticker.getAsLong())));
    }
  }

  private boolean wantsLoad() {
    KnownTasks tasks = known;
    if (tasks == null || !clock.isSet()) {
      return true;
    }
    long now = ticker.getAsLong();
    if (isPolling()) {
      return now - nextLoadNanos >= 0 && tasks.room() > 0;
    }
    // When half of what the last load covered is over: it may be far less than the horizon.
    boolean runsOut =
        completeUntilNanos == UNKNOWN
            || completeUntilNanos - clock.nanosAt(now) <= coveredNanos / 2;
    boolean leases = leasesUnknown && now - lastLoadNanos >= LEASE_RELOAD_NANOS;
    boolean roomy = tasks.due() < config.knownLimit() / 4 && tasks.room() > 0;
    return (runsOut || leases) && roomy && now - nextLoadNanos >= 0;
  }

  private int turnWheel(KnownTasks tasks) {
    wheelNanos = Math.max(wheelNanos, clock.nanosAt(ticker.getAsLong()));
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

  /** Arms a timer for what is due within the horizon. */
  private void armWithinHorizon(long task, String tenant, int slot, long wakeNanos) {
    if (isPolling()) {
      return;
    }
    // What is due later comes with a load. What is due before is armed though not everything before
    // it may be known: that may be another tenant's backlog.
    if (wakeNanos <= wheelNanos + config.horizon().toNanos()) {
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
    boolean later = wakeNanos > clock.nanosAt(ticker.getAsLong()) + SOON_NANOS;
    Armed armed = tasks.arm(task, tenant, slot, wakeNanos, lease, later);
    if (armed == Armed.FULL) {
      completeUntilNanos = Math.min(completeUntilNanos, wakeNanos);
    }
    return armed;
  }
}
