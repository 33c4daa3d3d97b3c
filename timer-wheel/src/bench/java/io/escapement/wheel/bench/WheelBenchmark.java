package io.escapement.wheel.bench;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** The rows of the comparison. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class WheelBenchmark {
  /** Has seen so many timers come and go before that nothing grows any more. */
  @State(Scope.Thread)
  public static class Churned extends SteadyState {
    @Setup(Level.Trial)
    public void churn() {
      for (int done = 0; done < live + live / 10; done += BATCH) {
        int batch = nextBatch();
        for (int i = 0; i < BATCH; i++) {
          timers.schedule(live + i, deadlines[batch + i]);
        }
        for (int i = 0; i < BATCH; i++) {
          timers.cancel(live + i);
        }
      }
    }
  }

  /** The batch of timers is taken away again outside of the measurement. */
  @State(Scope.Thread)
  public static class Scheduled extends Churned {
    @TearDown(Level.Invocation)
    public void cancelBatch() {
      for (int i = 0; i < BATCH; i++) {
        timers.cancel(live + i);
      }
    }
  }

  /**
   * Timers that are not due before the clock has gone through half of the horizon; then it starts
   * anew.
   */
  @State(Scope.Thread)
  public static class NothingDue extends SteadyState {
    long nowNanos;

    @Setup(Level.Invocation)
    public void startAnewAtHalf() {
      if (nowNanos + BATCH * Contender.TICK_NANOS >= Contender.HORIZON_NANOS / 2) {
        nowNanos = 0;
        timers.close();
        fill();
        // What filling has driven out of the caches is brought back outside of the measurement.
        goOn(this);
      }
    }
  }

  /** So many timers over the whole horizon, made anew for each time that they all fire. */
  @State(Scope.Thread)
  public static class Full {
    @Param("escapement")
    public String contender = "escapement";

    @Param("10000")
    public int live;

    Contender timers = Contender.named("escapement", 0);

    @Setup(Level.Invocation)
    public void fill() {
      timers = Contender.named(contender, live);
      SplittableRandom random = new SplittableRandom(live);
      timers.beforeFill();
      for (int place = 0; place < live; place++) {
        timers.schedule(place, random.nextInt(1, Contender.HORIZON_TICKS) * Contender.TICK_NANOS);
      }
      timers.afterFill();
    }

    @TearDown(Level.Invocation)
    public void check() {
      if (timers.size() != 0) {
        throw new IllegalStateException(timers.size() + " timers did not fire");
      }
      timers.close();
    }
  }

  /** A contender in the middle of the mixed load. */
  @State(Scope.Thread)
  public static class Mixed {
    @Param("escapement")
    public String contender = "escapement";

    @Param("10000")
    public int live;

    MixedScript script = new MixedScript("escapement", 1);

    @Setup(Level.Trial)
    public void warmUp() {
      script = new MixedScript(contender, live);
      script.warmUp();
    }

    @TearDown(Level.Trial)
    public void check() {
      long waiting = script.contender().size();
      boolean virtual = !contender.equals("netty");
      if (virtual && (waiting < live * 0.9 || waiting > live * 1.1)) {
        throw new IllegalStateException(waiting + " timers wait, not about " + live);
      }
      script.contender().close();
    }
  }

  @Benchmark
  @OperationsPerInvocation(SteadyState.BATCH)
  public void schedule(Scheduled state) {
    int batch = state.nextBatch();
    for (int i = 0; i < SteadyState.BATCH; i++) {
      state.timers.schedule(state.live + i, state.deadlines[batch + i]);
    }
  }

  @Benchmark
  @OperationsPerInvocation(SteadyState.BATCH)
  public void scheduleThenCancel(Churned state) {
    int batch = state.nextBatch();
    for (int i = 0; i < SteadyState.BATCH; i++) {
      state.timers.schedule(state.live + i, state.deadlines[batch + i]);
    }
    for (int i = 0; i < SteadyState.BATCH; i++) {
      state.timers.cancel(state.live + i);
    }
  }

  /** The clock moves by a tick each time. */
  @Benchmark
  @OperationsPerInvocation(SteadyState.BATCH)
  public int advanceNothingDue(NothingDue state) {
    return goOn(state);
  }

  private static int goOn(NothingDue state) {
    int fired = 0;
    for (int i = 0; i < SteadyState.BATCH; i++) {
      state.nowNanos += Contender.TICK_NANOS;
      fired += advance(state.timers, state.nowNanos);
    }
    return fired;
  }

  /**
   * A call of its own for everyone: inlined into the loop, a contender whose answer does not change
   * would look for it once and not each time.
   */
  @CompilerControl(CompilerControl.Mode.DONT_INLINE)
  static int advance(Contender timers, long nowNanos) {
    return timers.advance(nowNanos);
  }

  /** One operation is all of them. */
  @Benchmark
  public int fireAll(Full state) {
    return state.timers.fireAll();
  }

  @Benchmark
  @OperationsPerInvocation(SteadyState.BATCH)
  public long mixed(Mixed state) {
    state.script.run(SteadyState.BATCH);
    return state.script.fired;
  }

  @Benchmark
  public long nextExpiry(SteadyState state) {
    return state.timers.nextExpiryNanos();
  }
}
