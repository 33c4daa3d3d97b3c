package io.escapement.dispatcher;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A circuit breaker for each channel and destination: one that fails is left alone for a while, so
 * that an outage does not use up the tries of a backlog.
 *
 * <p>Bounded: beyond {@value #MOST} destinations those that work are forgotten. Thread rule: any
 * thread. It runs on the monotonic clock.
 */
final class Breakers {

  private record Key(String channel, String destination) {
    @Override
    public String toString() {
      return destination.isEmpty() ? channel : channel + " to " + destination;
    }
  }

  /** Leave to make one call, which has to be told how it went, or that it was not used. */
  static final class Pass {
    private final @Nullable CircuitBreaker breaker;
    private final AtomicBoolean used = new AtomicBoolean();

    private Pass(@Nullable CircuitBreaker breaker) {
      this.breaker = breaker;
    }

    void succeeded(long tookNanos) {
      if (breaker != null && used.compareAndSet(false, true)) {
        breaker.onSuccess(tookNanos, TimeUnit.NANOSECONDS);
      }
    }

    void failed(long tookNanos) {
      if (breaker != null && used.compareAndSet(false, true)) {
        breaker.onError(tookNanos, TimeUnit.NANOSECONDS, new DispatcherException("failed"));
      }
    }

    /** It was not needed; nothing if it was told how the call went. */
    void unused() {
      if (breaker != null && used.compareAndSet(false, true)) {
        breaker.releasePermission();
      }
    }
  }

  /** Nothing but the monotonic clock, whatever the wall clock does. */
  private static final class Ticks extends Clock {
    private final long startNanos = System.nanoTime();

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }

    @Override
    public Instant instant() {
      return Instant.EPOCH.plusNanos(System.nanoTime() - startNanos);
    }
  }

  /** A breaker, and until when it keeps calls back. */
  private static final class Entry {
    final CircuitBreaker breaker;
    volatile long openUntilNanos;
    final AtomicInteger opened = new AtomicInteger();

    Entry(CircuitBreaker breaker) {
      this.breaker = breaker;
    }
  }

  static final int MOST = 10_000;

  private static final Logger LOG = LoggerFactory.getLogger(Breakers.class);
  private static final int PROBES = 3;
  private static final int MOST_DOUBLINGS = 5;

  /** Calls that try it and never tell how they went are given up after that. */
  private static final Duration LONGEST_PROBE = Duration.ofMinutes(2);

  private final Outages outages;
  private final CircuitBreakerConfig config;
  private final Map<Key, Entry> breakers = new ConcurrentHashMap<>();

  Breakers(Outages outages) {
    this.outages = outages;
    int calls = Math.max(1, outages.calls());
    this.config =
        CircuitBreakerConfig.custom()
            .clock(new Ticks())
            .slidingWindow(calls, calls, CircuitBreakerConfig.SlidingWindowType.COUNT_BASED)
            .failureRateThreshold(50)
            .permittedNumberOfCallsInHalfOpenState(Math.min(PROBES, calls))
            .waitIntervalFunctionInOpenState(opened -> pause(outages, opened).toMillis())
            .maxWaitDurationInHalfOpenState(LONGEST_PROBE)
            .build();
  }

  /** Leave to call; null while the destination is left alone. */
  @Nullable Pass pass(String channel, String destination) {
    if (outages.calls() == 0) {
      return new Pass(null);
    }
    Key key = new Key(channel, destination);
    Entry entry = breakers.get(key);
    if (entry == null) {
      forgetWorking();
      entry = breakers.computeIfAbsent(key, this::create);
    }
    return entry.breaker.tryAcquirePermission() ? new Pass(entry.breaker) : null;
  }

  /** How long a destination is still left alone; the shortest pause if it is being tried. */
  Duration left(String channel, String destination) {
    Entry entry = breakers.get(new Key(channel, destination));
    Duration left =
        entry == null ? Duration.ZERO : Duration.ofNanos(entry.openUntilNanos - System.nanoTime());
    return left.compareTo(outages.pause()) < 0 ? outages.pause() : left;
  }

  private static Duration pause(Outages outages, int opened) {
    int doublings = Math.min(MOST_DOUBLINGS, Math.max(0, opened - 1));
    Duration pause = outages.pause().multipliedBy(1L << doublings);
    return pause.toMillis() < 1 ? Duration.ofMillis(1) : pause;
  }

  /** The channels and destinations that are left alone now. */
  List<String> open() {
    TreeSet<String> open = new TreeSet<>();
    breakers.forEach(
        (key, entry) -> {
          if (entry.breaker.getState() == CircuitBreaker.State.OPEN) {
            open.add(key.toString());
          }
        });
    return new ArrayList<>(open);
  }

  /** How many destinations are remembered. */
  int size() {
    return breakers.size();
  }

  private void forgetWorking() {
    if (breakers.size() >= MOST) {
      breakers.values().removeIf(one -> one.breaker.getState() == CircuitBreaker.State.CLOSED);
      if (breakers.size() >= MOST) {
        breakers.clear();
      }
    }
  }

  private Entry create(Key key) {
    CircuitBreaker breaker = CircuitBreaker.of(key.toString(), config);
    Entry entry = new Entry(breaker);
    breaker
        .getEventPublisher()
        .onStateTransition(
            event -> {
              switch (event.getStateTransition().getToState()) {
                case OPEN -> {
                  Duration pause = pause(outages, entry.opened.incrementAndGet());
                  entry.openUntilNanos = System.nanoTime() + pause.toNanos();
                  LOG.warn("channel {} fails; its tasks wait, and it is tried now and then", key);
                }
                case CLOSED -> {
                  entry.opened.set(0);
                  LOG.info("channel {} answers again", key);
                }
                default -> LOG.debug("channel {}: {}", key, event.getStateTransition());
              }
            });
    return entry;
  }
}
