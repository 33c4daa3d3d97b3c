package io.escapement.dispatcher;

import io.escapement.wheel.TimerHandler;
import io.escapement.wheel.TimerWheel;
import io.escapement.wheel.WheelGeometry;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a dispatcher knows of the tasks of its slots: a timer for each that is to come, and which
 * are ready or in hand. A cache of the ledger: everything in it may be forgotten at any time.
 *
 * <p>Bounded: beyond the limit nothing is taken in, and the caller is told. A tenant takes no more
 * than there is room left for others (dynamic thresholds, Choudhury and Hahne, IEEE/ACM
 * Transactions on Networking 1998): one backlog has half of it, two have a third each. Thread rule:
 * the driver's thread only.
 */
final class KnownTasks {

  /** Where a known task is. */
  enum Phase {
    /** A timer waits for its due time. */
    TIMER,
    /** A timer waits for the end of somebody's lease on it. */
    LEASE_TIMER,
    /** Due, waiting to be served. */
    READY,
    /** Served; is claimed as soon as no limit is in the way. */
    TAKEN,
    /** Claimed by this process. */
    IN_HAND
  }

  /** One known task. */
  static final class Known {
    final long task;
    final String tenant;
    final int slot;
    Phase phase;
    long wakeNanos;
    long handle;
    int attempt;

    private Known(long task, String tenant, int slot, Phase phase, long wakeNanos, long handle) {
      this.task = task;
      this.tenant = tenant;
      this.slot = slot;
      this.phase = phase;
      this.wakeNanos = wakeNanos;
      this.handle = handle;
    }
  }

  /** What became of arming a timer. */
  enum Armed {
    /** A timer waits. */
    ARMED,
    /** It is known already, and not later. */
    KNOWN,
    /** No room; the ledger has to be asked again. */
    FULL
  }

  private static final long NO_HANDLE = -1;
  private static final int LEAST_QUOTA = 16;

  private final int limit;
  private final TimerWheel wheel;
  private final Map<Long, Known> tasks = new HashMap<>();
  private final Map<String, Integer> byTenant = new HashMap<>();

  KnownTasks(int limit, long startNanos) {
    this.limit = limit;
    this.wheel = new TimerWheel(WheelGeometry.DEFAULT, limit, startNanos);
  }

  int size() {
    return tasks.size();
  }

  int timers() {
    return wheel.size();
  }

  /** Due: served or to be served, or in hand. */
  int due() {
    return tasks.size() - wheel.size();
  }

  private boolean isAtQuota(String tenant) {
    return byTenant.getOrDefault(tenant, 0) >= Math.max(LEAST_QUOTA, room());
  }

  private @Nullable Known remove(long task) {
    Known known = tasks.remove(task);
    if (known != null) {
      uncount(known);
    }
    return known;
  }

  private void uncount(Known known) {
    byTenant.computeIfPresent(known.tenant, (name, count) -> count == 1 ? null : count - 1);
  }

  int room() {
    return limit - tasks.size();
  }

  @Nullable Known get(long task) {
    return tasks.get(task);
  }

  /**
   * Arms a timer for a task, or moves the one it has to an earlier moment.
   *
   * @param lease for the end of a lease
   * @param later not due yet: such timers have half of the room, so that they never keep out what
   *     is due
   */
  Armed arm(long task, String tenant, int slot, long wakeNanos, boolean lease, boolean later) {
    Known known = tasks.get(task);
    Phase phase = lease ? Phase.LEASE_TIMER : Phase.TIMER;
    if (known != null) {
      boolean waits = known.phase == Phase.TIMER || known.phase == Phase.LEASE_TIMER;
      if (!waits || (known.phase == phase && known.wakeNanos <= wakeNanos)) {
        return Armed.KNOWN;
      }
      wheel.cancel(known.handle);
    } else if (tasks.size() >= (later ? Math.max(1, limit / 2) : limit) || isAtQuota(tenant)) {
      return Armed.FULL;
    }
    long handle = wheel.schedule(wakeNanos, task);
    if (handle == TimerWheel.FULL || handle == TimerWheel.BEYOND_HORIZON) {
      remove(task);
      return Armed.FULL;
    }
    if (tasks.put(task, new Known(task, tenant, slot, phase, wakeNanos, handle)) == null) {
      byTenant.merge(tenant, 1, Integer::sum);
    }
    return Armed.ARMED;
  }

  /** Marks a task whose timer has fired. */
  void move(Known known, Phase phase) {
    known.phase = phase;
    known.handle = NO_HANDLE;
  }

  /** Marks a task that was claimed. */
  void takeInHand(Known known, int attempt) {
    if (known.handle != NO_HANDLE) {
      wheel.cancel(known.handle);
    }
    move(known, Phase.IN_HAND);
    known.attempt = attempt;
  }

  /** The same with nothing but what is in hand, and a wheel that starts at another moment. */
  KnownTasks onlyInHand(long startNanos) {
    KnownTasks fresh = new KnownTasks(limit, startNanos);
    tasks.forEach(
        (task, known) -> {
          if (known.phase == Phase.IN_HAND) {
            fresh.tasks.put(task, known);
            fresh.byTenant.merge(known.tenant, 1, Integer::sum);
          }
        });
    return fresh;
  }

  /** Forgets a task. */
  void forget(long task) {
    Known known = remove(task);
    if (known != null && known.handle != NO_HANDLE) {
      wheel.cancel(known.handle);
    }
  }

  /** Forgets what is not in hand of all slots but these. */
  void keepOnly(Set<Integer> slots) {
    tasks
        .values()
        .removeIf(
            known -> {
              boolean drop = !slots.contains(known.slot) && known.phase != Phase.IN_HAND;
              if (drop && known.handle != NO_HANDLE) {
                wheel.cancel(known.handle);
              }
              if (drop) {
                uncount(known);
              }
              return drop;
            });
  }

  /** Fires what is due, at most {@code most} timers. */
  int advance(long nowNanos, int most, TimerHandler handler) {
    return wheel.advance(nowNanos, most, handler);
  }

  /** No timer is due before this moment; {@link Long#MAX_VALUE} if there is none. */
  long nextWakeNanos() {
    return wheel.nextExpiryLowerBound();
  }
}
