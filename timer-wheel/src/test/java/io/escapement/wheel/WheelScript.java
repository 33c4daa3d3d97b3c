package io.escapement.wheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Predicate;

/**
 * A sequence of operations, each a random number, run against a wheel and against the model, which
 * must agree.
 *
 * <p>What a number means depends on it and on the timers that wait, so that any subsequence is a
 * script too: that is how a failing one is shrunk.
 */
final class WheelScript {
  private static final long YEAR_NANOS = 365L * 86_400 * 1_000_000_000;

  private final WheelGeometry geometry;
  private final TimerWheel wheel;
  private final SortedMapModel model;
  private final long tickNanos;
  private final long spanTicks;
  private long nowNanos;
  private long staleHandle;
  private long nextPayload;
  long fired;
  long refused;

  /**
   * With a small allowance the dead are swept all the time, with few generations indexes wear out.
   */
  WheelScript(
      WheelGeometry geometry,
      int maxTimers,
      long startNanos,
      int deadAllowance,
      int lastGeneration) {
    this.geometry = geometry;
    wheel = new TimerWheel(geometry, maxTimers, startNanos, deadAllowance, lastGeneration);
    model = new SortedMapModel(geometry, maxTimers, startNanos);
    tickNanos = geometry.tickNanos();
    spanTicks = geometry.spanTicks();
    nowNanos = startNanos;
  }

  void run(long[] operations) {
    for (long operation : operations) {
      apply(new SplittableRandom(operation));
      assertThat(wheel.size()).isEqualTo(model.size());
    }
  }

  /** Leaves out ever smaller parts of a failing script while it goes on failing. */
  static long[] shrink(long[] failing, Predicate<long[]> fails) {
    long[] smallest = failing;
    for (int part = Math.max(1, failing.length / 2); part > 0; part /= 2) {
      for (int from = 0; from + part <= smallest.length; ) {
        long[] without = new long[smallest.length - part];
        System.arraycopy(smallest, 0, without, 0, from);
        System.arraycopy(smallest, from + part, without, from, without.length - from);
        if (fails.test(without)) {
          smallest = without;
        } else {
          from += part;
        }
      }
    }
    return smallest;
  }

  @Override
  public String toString() {
    return geometry + " at " + nowNanos + ", " + model.size() + " timers waiting";
  }

  private void apply(SplittableRandom random) {
    int choice = random.nextInt(1000);
    if (choice < 500) {
      schedule(deadline(random));
    } else if (choice < 680) {
      cancelSome(random);
    } else if (choice < 940) {
      advance(random);
    } else if (choice < 990) {
      checkBound();
    } else if (choice < 999) {
      checkVisit();
    } else {
      wheel.clear();
      model.clear();
    }
  }

  private void schedule(long deadlineNanos) {
    long payload = nextPayload++;
    long refusal = model.refusal(deadlineNanos);
    long answer = wheel.schedule(deadlineNanos, payload);
    if (refusal != 0) {
      assertThat(answer).as("scheduling at %d", deadlineNanos).isEqualTo(refusal);
      refused++;
    } else {
      assertThat(answer).as("scheduling at %d", deadlineNanos).isPositive();
      model.scheduled(answer, deadlineNanos, payload);
    }
  }

  private void cancelSome(SplittableRandom random) {
    long handle = staleHandle;
    if (model.size() > 0 && random.nextInt(4) > 0) {
      handle = model.handleAt(random.nextInt(model.size()));
    } else if (random.nextInt(4) == 0) {
      handle = random.nextLong();
    }
    assertThat(wheel.cancel(handle)).isEqualTo(model.cancel(handle));
    staleHandle = handle;
  }

  private void advance(SplittableRandom random) {
    nowNanos = moment(random);
    int limit = random.nextInt(3) == 0 ? 1 + random.nextInt(20) : Integer.MAX_VALUE;
    boolean turns = model.beginAdvance(nowNanos);
    int count =
        wheel.advance(
            nowNanos,
            limit,
            (payload, dueNanos, handle) -> {
              model.fired(handle, payload, dueNanos, nowNanos);
              fired++;
              staleHandle = handle;
              react(random);
            });
    if (!turns) {
      assertThat(count).isZero();
      return;
    }
    assertThat(count).isLessThanOrEqualTo(limit);
    model.endAdvance(nowNanos, count == limit);
    checkBound();
  }

  private void react(SplittableRandom random) {
    switch (random.nextInt(16)) {
      case 0, 1, 2 -> schedule(deadline(random));
      case 3 -> schedule(plus(model.handNanos(), tickNanos));
      case 4 -> schedule(model.handNanos());
      case 5, 6 -> cancelSome(random);
      case 7 ->
          assertThat(wheel.nextExpiryLowerBound())
              .isLessThanOrEqualTo(Math.max(model.handNanos(), model.clockNanos()));
      case 8 -> {
        if (random.nextInt(100) == 0) {
          wheel.clear();
          model.clear();
        }
      }
      default -> {}
    }
  }

  private void checkBound() {
    long bound = wheel.nextExpiryLowerBound();
    if (model.nextExpiryIsExact()) {
      assertThat(bound).isEqualTo(model.nextExpiryNanos());
    } else {
      assertThat(bound).isGreaterThan(model.clockNanos()).isLessThan(model.nextExpiryNanos() + 1);
    }
  }

  private void checkVisit() {
    Map<Long, Long> seen = new HashMap<>();
    wheel.forEach(
        (payload, dueNanos, handle) -> {
          assertThat(seen.put(handle, payload)).as("visited twice").isNull();
          assertThat(dueNanos).isEqualTo(model.dueNanos(handle));
        });
    assertThat(seen.keySet()).isEqualTo(model.handles());
    seen.forEach((handle, payload) -> assertThat(payload).isEqualTo(model.timer(handle).payload));
  }

  /** Near, far, at the edges of the horizon, in the past, and the ends of time. */
  private long deadline(SplittableRandom random) {
    long base = model.handNanos();
    return switch (random.nextInt(40)) {
      case 0 -> random.nextLong();
      case 1 -> new long[] {Long.MAX_VALUE, Long.MAX_VALUE - 1, Long.MIN_VALUE}[random.nextInt(3)];
      case 2, 3, 4 -> plus(base, -random.nextLong(10 * tickNanos));
      case 5 -> plus(base, times(spanTicks - 1, tickNanos));
      case 6 -> plus(base, times(spanTicks - 1, tickNanos) + 1);
      case 7 -> plus(base, times(spanTicks, tickNanos));
      default -> plus(base, anyLength(random));
    };
  }

  /** Mostly a little later, at times at the bound, years later, or back. */
  private long moment(SplittableRandom random) {
    return switch (random.nextInt(20)) {
      case 0 -> plus(nowNanos, random.nextLong(YEAR_NANOS / 100));
      case 1 -> plus(nowNanos, -random.nextLong(20 * tickNanos));
      case 2, 3, 4 -> {
        long bound = wheel.nextExpiryLowerBound();
        yield bound == TimerWheel.NEVER ? nowNanos : Math.max(bound, nowNanos);
      }
      case 5 -> plus(nowNanos, times(spanTicks, tickNanos));
      default -> plus(nowNanos, anyLength(random));
    };
  }

  /** A length of which each power of two up to the span is as likely as the next. */
  private long anyLength(SplittableRandom random) {
    int bits = random.nextInt(Long.SIZE - Long.numberOfLeadingZeros(spanTicks));
    return times(random.nextLong(1L << bits, 2L << bits), tickNanos) + random.nextLong(tickNanos);
  }

  private static long times(long ticks, long tickNanos) {
    long high = Math.multiplyHigh(ticks, tickNanos);
    long low = ticks * tickNanos;
    return high != 0 || low < 0 ? Long.MAX_VALUE / 2 : low;
  }

  private static long plus(long nanos, long more) {
    long sum = nanos + more;
    boolean overflow = ((nanos ^ sum) & (more ^ sum)) < 0;
    return overflow ? (more < 0 ? Long.MIN_VALUE : Long.MAX_VALUE) : sum;
  }

  static long[] random(long seed, int length) {
    long[] operations = new long[length];
    SplittableRandom random = new SplittableRandom(seed);
    Arrays.setAll(operations, i -> random.nextLong());
    return operations;
  }
}
