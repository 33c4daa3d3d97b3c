package io.escapement.dispatcher;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Tasks whose time has come, waiting to be claimed: per tenant in due order, served by deficit
 * round robin with the tenants' weights (Shreedhar and Varghese, SIGCOMM 1995; every task costs
 * one), so that a tenant's backlog delays another by its share and not by its length.
 *
 * <p>Cost: adding is logarithmic in the tenant's own backlog. Thread rule: its owner's only.
 */
final class ReadySet {

  private record Ready(long task, long dueNanos) implements Comparable<Ready> {
    @Override
    public int compareTo(Ready other) {
      int byDue = Long.compare(dueNanos, other.dueNanos);
      return byDue != 0 ? byDue : Long.compare(task, other.task);
    }
  }

  private static final class Lane {
    final String tenant;
    final PriorityQueue<Ready> waiting = new PriorityQueue<>();
    int deficit;

    Lane(String tenant) {
      this.tenant = tenant;
    }
  }

  private final Map<String, Lane> lanes = new HashMap<>();

  /** The lanes with something in them, the one to be served next first. */
  private final ArrayDeque<Lane> round = new ArrayDeque<>();

  private Map<String, Integer> weights = Map.of();
  private int size;

  /** Sets the tenants' weights; a tenant without one weighs 1. */
  void weigh(Map<String, Integer> tenantWeights) {
    weights = Map.copyOf(tenantWeights);
  }

  int size() {
    return size;
  }

  /** How many of a tenant's wait. */
  int of(String tenant) {
    Lane lane = lanes.get(tenant);
    return lane == null ? 0 : lane.waiting.size();
  }

  void add(long task, String tenant, long dueNanos) {
    Lane lane = lanes.computeIfAbsent(tenant, Lane::new);
    if (lane.waiting.isEmpty()) {
      round.addLast(lane);
    }
    lane.waiting.add(new Ready(task, dueNanos));
    size++;
  }

  /** Takes the task to be served next; null if there is none. */
  @Nullable Long poll() {
    Lane lane = round.peekFirst();
    if (lane == null) {
      return null;
    }
    if (lane.deficit <= 0) {
      lane.deficit = weights.getOrDefault(lane.tenant, 1);
    }
    Ready ready = lane.waiting.remove();
    size--;
    lane.deficit--;
    if (lane.waiting.isEmpty()) {
      round.removeFirst();
      lanes.remove(lane.tenant);
    } else if (lane.deficit <= 0) {
      round.addLast(round.removeFirst());
    }
    return ready.task();
  }

  void clear() {
    lanes.clear();
    round.clear();
    size = 0;
  }
}
