package io.escapement.dispatcher;

import io.escapement.dispatcher.KnownTasks.Known;
import io.escapement.ledger.Lane;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.WorkFilter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Chooses, of the due tasks of one queue, those that may be claimed now: for which a handler is
 * free, whose kind and channel are not at their limit, and whose channel's provider answers. The
 * others are put off: those that want for a handler together, the others lane by lane, each served
 * by deficit round robin over the tenants.
 *
 * <p>What waits for a limit is bounded, and of that a tenant has no more than there is left for
 * others, as in {@link KnownTasks}. A lane that is full is not asked for any more until half of it
 * is gone, so that its backlog leaves room for others'. Cost: without limits and external channels
 * nothing; with them one more statement for tasks whose lane is not known. Thread rule: the
 * driver's thread.
 */
final class LaneGate {

  /**
   * What is to be asked for.
   *
   * @param withoutKinds kinds to be left out
   */
  record Wanted(WorkFilter work, Set<String> withoutKinds) {}

  /** What waits in a lane for its limits. */
  private static final class Aside {
    final ReadySet tasks = new ReadySet();

    /** Whether it is left out of what is asked for, because of its kind's limit. */
    boolean fullByKind;

    /** The same because of its channel. */
    boolean fullByChannel;
  }

  private static final int LEAST = 16;
  private static final int MOST = 2_000;

  private final Throttle throttle;
  private final Ledger ledger;
  private final WorkFilter work;
  private final int most;

  /** Those for which no handler was free. */
  private final ReadySet local = new ReadySet();

  private final Map<Lane, Aside> aside = new HashMap<>();

  /** Handlers that are free in this turn. */
  private int free;

  /**
   * A gate that lets everything pass that it may.
   *
   * @param work what this process can do
   * @param most tasks that wait for limits, shared evenly by the limits
   */
  LaneGate(Throttle throttle, Ledger ledger, WorkFilter work, int most) {
    this.throttle = throttle;
    this.ledger = ledger;
    this.work = work;
    this.most = Math.max(LEAST, Math.min(MOST, most / Math.max(1, throttle.limits())));
  }

  /** How many wait for a limit. */
  int waiting() {
    return aside.values().stream().mapToInt(one -> one.tasks.size()).sum();
  }

  /** How many wait for a handler. */
  int putOff() {
    return local.size();
  }

  /** What is to be asked for: what this process can do, without what waits here in plenty. */
  Wanted wanted() {
    Set<String> without = new HashSet<>();
    Set<String> channels = new HashSet<>(work.channels() == null ? Set.of() : work.channels());
    boolean fewer = false;
    for (Map.Entry<Lane, Aside> lane : aside.entrySet()) {
      // What is limited is left out, with all that is limited by the same.
      if (lane.getValue().fullByKind) {
        without.add(lane.getKey().kind());
      }
      if (lane.getValue().fullByChannel) {
        fewer |= channels.remove(lane.getKey().channel());
      }
    }
    return new Wanted(fewer ? new WorkFilter(work.kinds(), channels) : work, without);
  }

  /**
   * Chooses tasks to be claimed.
   *
   * @param room how many, whatever they need
   * @param handlers how many that handlers do
   * @param chosen where they go, with their permits; null where there are no limits
   * @return how many were looked at without being chosen
   */
  int choose(
      TaskFinder finder,
      int room,
      int handlers,
      Map<Long, Throttle.@Nullable Permit> chosen,
      long nowNanos) {
    if (throttle.isIdle()) {
      for (int left = Math.min(room, handlers); left > 0; left--) {
        Known one = finder.next();
        if (one == null) {
          break;
        }
        chosen.put(one.task, null);
      }
      return 0;
    }
    // Half of the free handlers first for what has waited for a limit, so that neither these nor
    // those that wait for nothing but a handler have all of them.
    free = (handlers + 1) / 2;
    fromAside(finder, room, chosen, nowNanos);
    free += handlers / 2;
    local.weigh(finder.weights());
    int looked =
        startAll(
            finder,
            take(() -> finder.next(local), Math.min(free, room - chosen.size())),
            chosen,
            nowNanos);
    looked += startAll(finder, take(finder::next, room - chosen.size()), chosen, nowNanos);
    fromAside(finder, room, chosen, nowNanos);
    return looked;
  }

  /** How long nothing that waits here can start, unless a permit comes back or a handler ends. */
  long idleNanos(long nowNanos) {
    long next = Long.MAX_VALUE;
    for (Lane lane : aside.keySet()) {
      if (free > 0 || throttle.isExternal(lane.channel())) {
        long open = throttle.nextNanos(lane, nowNanos);
        if (open != Long.MAX_VALUE) {
          next = Math.min(next, Math.max(0, open - nowNanos));
        }
      }
    }
    return next;
  }

  /** Lane by lane in turn, so that none has all of the room. */
  private void fromAside(
      TaskFinder finder, int room, Map<Long, Throttle.@Nullable Permit> chosen, long nowNanos) {
    List<Lane> open = new ArrayList<>(aside.keySet());
    for (Aside one : aside.values()) {
      one.tasks.weigh(finder.weights());
    }
    while (!open.isEmpty() && chosen.size() < room) {
      open.removeIf(lane -> chosen.size() >= room || !startOne(lane, finder, chosen, nowNanos));
    }
    boolean roomier = false;
    for (Lane lane : List.copyOf(aside.keySet())) {
      Aside one = aside.getOrDefault(lane, new Aside());
      boolean full = one.fullByKind || one.fullByChannel;
      if (full && one.tasks.size() <= most / 4) {
        one.fullByKind = false;
        one.fullByChannel = false;
        roomier = true;
      }
      if (one.tasks.size() == 0) {
        aside.remove(lane);
      }
    }
    if (roomier) {
      finder.reload();
    }
  }

  /** Starts a lane's next task; false if there is none, or it has to wait. */
  private boolean startOne(
      Lane lane, TaskFinder finder, Map<Long, Throttle.@Nullable Permit> chosen, long nowNanos) {
    ReadySet tasks = aside.getOrDefault(lane, new Aside()).tasks;
    if (tasks.size() == 0 || wantsHandler(lane)) {
      return false;
    }
    Throttle.Permit permit = throttle.take(lane, nowNanos);
    if (permit == null) {
      return false;
    }
    Known one = finder.next(tasks);
    if (one == null) {
      permit.annul();
      return false;
    }
    start(one, lane, permit, chosen);
    return true;
  }

  /** Whether a task of this lane waits for a handler, whatever else. */
  private boolean wantsHandler(Lane lane) {
    return free <= 0 && !throttle.isExternal(lane.channel());
  }

  private void start(
      Known one, Lane lane, Throttle.Permit permit, Map<Long, Throttle.@Nullable Permit> chosen) {
    if (!throttle.isExternal(lane.channel())) {
      free--;
    }
    chosen.put(one.task, permit);
  }

  private static List<Known> take(Supplier<@Nullable Known> next, int most) {
    List<Known> taken = new ArrayList<>();
    Known one = most > 0 ? next.get() : null;
    while (one != null) {
      taken.add(one);
      one = taken.size() < most ? next.get() : null;
    }
    return taken;
  }

  /** Starts what may be started of some tasks; answers how many were looked at in vain. */
  private int startAll(
      TaskFinder finder,
      List<Known> candidates,
      Map<Long, Throttle.@Nullable Permit> chosen,
      long nowNanos) {
    if (candidates.isEmpty()) {
      return 0;
    }
    int before = chosen.size();
    Map<Long, Lane> lanes;
    try {
      lanes = ledger.lanesOf(candidates.stream().map(one -> one.task).toList());
    } catch (RuntimeException | Error e) {
      candidates.forEach(one -> finder.forget(one.task));
      finder.missSome();
      throw e;
    }
    for (Known one : candidates) {
      Lane lane = lanes.get(one.task);
      if (lane == null) {
        finder.forget(one.task);
      } else {
        startOrPutOff(finder, one, lane, chosen, nowNanos);
      }
    }
    return candidates.size() - (chosen.size() - before);
  }

  private void startOrPutOff(
      TaskFinder finder,
      Known one,
      Lane lane,
      Map<Long, Throttle.@Nullable Permit> chosen,
      long nowNanos) {
    if (wantsHandler(lane)) {
      finder.putOff(one, local);
      return;
    }
    Throttle.Permit permit = aside.containsKey(lane) ? null : throttle.take(lane, nowNanos);
    if (permit != null) {
      start(one, lane, permit, chosen);
      return;
    }
    Aside its = aside.computeIfAbsent(lane, l -> new Aside());
    int left = most - waitingForTheSame(lane);
    if (its.tasks.of(one.tenant) >= Math.max(LEAST / 2, left) || left <= 0) {
      boolean byKind = throttle.isHeldByKind(lane, nowNanos);
      its.fullByKind |= byKind;
      its.fullByChannel |= !byKind;
      finder.forget(one.task);
    } else {
      finder.putOff(one, its.tasks);
    }
  }

  /** What waits for this lane's kind, if that is limited, or for its channel. */
  private int waitingForTheSame(Lane lane) {
    boolean byKind = throttle.limitsKind(lane.kind());
    int waiting = 0;
    for (Map.Entry<Lane, Aside> other : aside.entrySet()) {
      boolean same =
          byKind
              ? other.getKey().kind().equals(lane.kind())
              : other.getKey().channel().equals(lane.channel());
      waiting += same ? other.getValue().tasks.size() : 0;
    }
    return waiting;
  }
}
