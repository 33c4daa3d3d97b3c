package io.escapement.dispatcher;

import io.escapement.ledger.Lane;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the {@link LaneLimits}, and the outages of external channels: who wants to start a task
 * needs a permit, and gives it back when its handler has ended. Rates are token buckets that hold a
 * second's worth.
 *
 * <p>Thread rule: any thread; the clock is handed in, monotonic, in nanoseconds.
 */
final class Throttle {

  private static final double NANOS = 1e9;
  private static final long OUTAGE_LOOK_NANOS = 100_000_000;

  /** One limit and what is left of it. */
  private static final class Bucket {
    final LaneLimit limit;
    int running;
    double tokens;
    long refilledNanos;

    Bucket(LaneLimit limit, long nowNanos) {
      this.limit = limit;
      this.tokens = burst(limit);
      this.refilledNanos = nowNanos;
    }

    void refill(long nowNanos) {
      if (Double.isInfinite(limit.perSecond())) {
        return;
      }
      double more = (nowNanos - refilledNanos) / NANOS * limit.perSecond();
      tokens = Math.min(burst(limit), tokens + more);
      refilledNanos = nowNanos;
    }

    boolean isOpen() {
      return running < limit.concurrency() && tokens >= 1;
    }

    /** When there is a token at the latest; a permit's return can't be foreseen. */
    long nextNanos() {
      if (running >= limit.concurrency()) {
        return Long.MAX_VALUE;
      }
      return refilledNanos + (long) Math.ceil(Math.max(0, 1 - tokens) / limit.perSecond() * NANOS);
    }

    static double burst(LaneLimit limit) {
      return Math.max(1, limit.perSecond());
    }
  }

  private final Map<String, Bucket> kinds = new HashMap<>();
  private final Map<String, Bucket> channels = new HashMap<>();
  private final Breakers breakers;
  private volatile Runnable whenBack = () -> {};

  /** The external channels, with when one that is left alone is worth another look. */
  private final Map<String, Long> external = new HashMap<>();

  /**
   * A throttle.
   *
   * @param external the channels that have outages
   */
  Throttle(LaneLimits limits, Set<String> external, Breakers breakers, long nowNanos) {
    this.breakers = breakers;
    external.forEach(name -> this.external.put(name, nowNanos));
    limits.kinds().forEach((kind, limit) -> kinds.put(kind, new Bucket(limit, nowNanos)));
    limits.channels().forEach((name, limit) -> channels.put(name, new Bucket(limit, nowNanos)));
  }

  /** Leave to start one task. */
  final class Permit {
    private final List<Bucket> of;
    private final Breakers.@Nullable Pass pass;
    private boolean back;

    private Permit(List<Bucket> of, Breakers.@Nullable Pass pass) {
      this.of = of;
      this.pass = pass;
    }

    /** Leave to call its channel; null where that is not needed. */
    Breakers.@Nullable Pass pass() {
      return pass;
    }

    /** Gives it back; again is nothing. */
    void giveBack() {
      synchronized (Throttle.this) {
        if (!back) {
          back = true;
          of.forEach(bucket -> bucket.running--);
        }
      }
      if (!of.isEmpty()) {
        whenBack.run();
      }
    }

    /** Gives it back as if it had never been taken: the task did not start. */
    void annul() {
      synchronized (Throttle.this) {
        if (!back) {
          of.forEach(
              bucket -> bucket.tokens = Math.min(Bucket.burst(bucket.limit), bucket.tokens + 1));
          giveBack();
          if (pass != null) {
            pass.unused();
          }
        }
      }
    }
  }

  /** Told of each permit that comes back; any thread. */
  void whenBack(Runnable told) {
    whenBack = told;
  }

  /** Whether there is no limit at all, and no channel that can fail. */
  boolean isIdle() {
    return limits() == 0 && external.isEmpty();
  }

  /** Whether tasks of this channel are calls to the outside. */
  boolean isExternal(String channel) {
    return external.containsKey(channel);
  }

  /** How many limits there are. */
  int limits() {
    return kinds.size() + channels.size();
  }

  /** Whether it is its kind's limit that a lane waits for, and not its channel's. */
  synchronized boolean isHeldByKind(Lane lane, long nowNanos) {
    Bucket bucket = kinds.get(lane.kind());
    if (bucket == null) {
      return false;
    }
    bucket.refill(nowNanos);
    boolean byChannel =
        channels.containsKey(lane.channel()) || external.containsKey(lane.channel());
    return !bucket.isOpen() || !byChannel;
  }

  /** Whether there is a limit for this kind. */
  boolean limitsKind(String kind) {
    return kinds.containsKey(kind);
  }

  /** A permit for a task of this lane; null if it has to wait. */
  synchronized @Nullable Permit take(Lane lane, long nowNanos) {
    List<Bucket> buckets = of(lane, nowNanos);
    if (!buckets.stream().allMatch(Bucket::isOpen)) {
      return null;
    }
    Breakers.Pass pass = null;
    if (external.containsKey(lane.channel())) {
      pass = breakers.pass(lane.channel(), "");
      if (pass == null) {
        external.put(lane.channel(), nowNanos + OUTAGE_LOOK_NANOS);
        return null;
      }
    }
    for (Bucket bucket : buckets) {
      bucket.running++;
      bucket.tokens--;
    }
    return new Permit(buckets, pass);
  }

  /** Whether a task of this lane could start. */
  synchronized boolean isOpen(Lane lane, long nowNanos) {
    return of(lane, nowNanos).stream().allMatch(Bucket::isOpen);
  }

  /**
   * When a lane may be open again by its rate or after an outage; {@link Long#MAX_VALUE}: when a
   * permit comes back.
   */
  synchronized long nextNanos(Lane lane, long nowNanos) {
    long byLimits = of(lane, nowNanos).stream().mapToLong(Bucket::nextNanos).max().orElse(nowNanos);
    return Math.max(byLimits, external.getOrDefault(lane.channel(), byLimits));
  }

  private static void add(List<Bucket> buckets, @Nullable Bucket bucket, long nowNanos) {
    if (bucket != null) {
      bucket.refill(nowNanos);
      buckets.add(bucket);
    }
  }

  private List<Bucket> of(Lane lane, long nowNanos) {
    List<Bucket> buckets = new ArrayList<>(2);
    add(buckets, kinds.get(lane.kind()), nowNanos);
    add(buckets, channels.get(lane.channel()), nowNanos);
    return buckets;
  }
}
