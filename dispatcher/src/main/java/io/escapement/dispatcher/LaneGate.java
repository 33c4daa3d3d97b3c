package io.escapement.dispatcher;

import io.escapement.dispatcher.KnownTasks.Known;
import io.escapement.ledger.Lane;
import io.escapement.ledger.Ledger;
import io.escapement.ledger.WorkFilter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Chooses, of the due tasks of one queue, those that may be claimed now: whose kind and channel are
 * not at their limit. The others are set aside, in the order in which they came, lane by lane.
 *
 * <p>What is set aside is bounded. A lane that is full is not asked for any more until half of it
 * is gone, so that its backlog leaves room for others'. Cost: without limits nothing; with limits
 * one more statement for tasks whose lane is not known. Thread rule: the driver's thread.
 */
final class LaneGate {

  private static final int LEAST = 16;

  private final Throttle throttle;
  private final Ledger ledger;
  private final WorkFilter work;
  private final int most;
  private final Map<Lane, ArrayDeque<Known>> aside = new HashMap<>();
  private final Set<Lane> full = new HashSet<>();
  private int waiting;

  /**
   * A gate that lets everything pass that it may.
   *
   * @param work what this process can do
   * @param most tasks that are set aside, shared evenly by the limits
   */
  LaneGate(Throttle throttle, Ledger ledger, WorkFilter work, int most) {
    this.throttle = throttle;
    this.ledger = ledger;
    this.work = work;
    this.most = Math.max(LEAST, most / Math.max(1, throttle.limits()));
  }

  /** How many are set aside. */
  int waiting() {
    return waiting;
  }

  /** What is to be asked for: what this process can do, without what waits here in plenty. */
  WorkFilter wanted() {
    if (full.isEmpty()) {
      return work;
    }
    Set<String> kinds = new HashSet<>(kinds());
    Set<String> channels = new HashSet<>(channels());
    for (Lane lane : full) {
      // What is limited is left out, with all that is limited by the same.
      if (throttle.limitsKind(lane.kind())) {
        kinds.remove(lane.kind());
      } else {
        channels.remove(lane.channel());
      }
    }
    return new WorkFilter(kinds, channels);
  }

  /**
   * Chooses tasks to be claimed.
   *
   * @param chosen where they go, with their permits; null where there are no limits
   * @return how many were looked at without being chosen
   */
  int choose(
      TaskFinder finder, int room, Map<Long, Throttle.@Nullable Permit> chosen, long nowNanos) {
    if (throttle.isIdle()) {
      for (Known one = finder.next(); one != null; one = finder.next()) {
        chosen.put(one.task, null);
        if (chosen.size() == room) {
          break;
        }
      }
      return 0;
    }
    fromAside(finder, room, chosen, nowNanos);
    return fromReady(finder, room, chosen, nowNanos);
  }

  /** How long nothing that is set aside can start, unless a permit comes back. */
  long idleNanos(long nowNanos) {
    long next = Long.MAX_VALUE;
    for (Lane lane : aside.keySet()) {
      long open = throttle.nextNanos(lane, nowNanos);
      if (open != Long.MAX_VALUE) {
        next = Math.min(next, Math.max(0, open - nowNanos));
      }
    }
    return next;
  }

  private void fromAside(
      TaskFinder finder, int room, Map<Long, Throttle.@Nullable Permit> chosen, long nowNanos) {
    Iterator<Map.Entry<Lane, ArrayDeque<Known>>> lanes = aside.entrySet().iterator();
    while (lanes.hasNext() && chosen.size() < room) {
      Map.Entry<Lane, ArrayDeque<Known>> lane = lanes.next();
      ArrayDeque<Known> tasks = lane.getValue();
      while (!tasks.isEmpty() && chosen.size() < room) {
        if (!finder.isTaken(tasks.peek())) {
          // Its slot went to another process meanwhile.
          tasks.remove();
          waiting--;
          continue;
        }
        Throttle.Permit permit = throttle.take(lane.getKey(), nowNanos);
        if (permit == null) {
          break;
        }
        chosen.put(tasks.remove().task, permit);
        waiting--;
      }
      if (tasks.size() <= most / 2 && full.remove(lane.getKey())) {
        finder.reload();
      }
      if (tasks.isEmpty()) {
        lanes.remove();
      }
    }
  }

  private Set<String> kinds() {
    return work.kinds() == null ? Set.of() : work.kinds();
  }

  private Set<String> channels() {
    return work.channels() == null ? Set.of() : work.channels();
  }

  private int fromReady(
      TaskFinder finder, int room, Map<Long, Throttle.@Nullable Permit> chosen, long nowNanos) {
    List<Known> candidates = new ArrayList<>();
    while (candidates.size() < room - chosen.size()) {
      Known one = finder.next();
      if (one == null) {
        break;
      }
      candidates.add(one);
    }
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
        startOrSetAside(finder, one, lane, chosen, nowNanos);
      }
    }
    return candidates.size() - (chosen.size() - before);
  }

  private void startOrSetAside(
      TaskFinder finder,
      Known one,
      Lane lane,
      Map<Long, Throttle.@Nullable Permit> chosen,
      long nowNanos) {
    ArrayDeque<Known> before = aside.get(lane);
    Throttle.Permit permit = before == null ? throttle.take(lane, nowNanos) : null;
    if (permit != null) {
      chosen.put(one.task, permit);
    } else if (before != null && before.size() >= most) {
      full.add(lane);
      finder.forget(one.task);
    } else {
      aside.computeIfAbsent(lane, l -> new ArrayDeque<>()).add(one);
      waiting++;
    }
  }
}
