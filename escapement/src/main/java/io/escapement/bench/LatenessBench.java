package io.escapement.bench;

import io.escapement.assembly.CommandFailure;
import io.escapement.config.Key;
import io.escapement.ledger.bench.BareLoop;
import io.escapement.ledger.bench.BenchDatabase;
import io.escapement.ledger.bench.ClaimLateness;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * How late one dispatcher process claims tasks that were accepted long before they are due, at even
 * rates: from the due time to the claim, both by the database's clock.
 *
 * <p>Cost: a ledger of its own for each rate of each repeat, and the dispatcher's horizon before
 * anything is due. Thread rule: one thread. Failure: {@link CommandFailure}, also if a task was
 * claimed before it was due.
 */
public final class LatenessBench {

  /**
   * What to measure.
   *
   * @param repeats of every rate
   * @param seconds that the measured due times are spread over
   * @param warmUpSeconds before that, at the same rate
   * @param tenants that share the tasks evenly
   * @param valueBytes of each task's intent
   * @param nearHorizon whether the dispatcher keeps timers for two seconds only, so that nobody
   *     waits long for the first due time
   */
  public record Plan(
      int repeats,
      int seconds,
      int warmUpSeconds,
      int tenants,
      int valueBytes,
      boolean nearHorizon) {}

  private static final List<Integer> RATES = List.of(500, 2_000);
  private static final List<BenchWorld.Assignment> NEAR =
      List.of(
          new BenchWorld.Assignment(Key.DISPATCHER_SWEEP, "1s"),
          new BenchWorld.Assignment(Key.DISPATCHER_HORIZON, "2s"));

  /** Loading takes a few seconds, and never more than these. */
  private static final Duration LOADING = Duration.ofSeconds(5);

  private static final int LOADED_A_SECOND = 5_000;

  private final BenchRun run;
  private final Plan plan;
  private final Figures figures = new Figures("lateness");

  public LatenessBench(BenchRun run, Plan plan) {
    this.run = run;
    this.plan = plan;
  }

  /** Measures. */
  public Figures run() {
    run.repeat(
        plan.repeats(),
        () -> RATES.forEach(perSecond -> measure(figures, perSecond + "/s", perSecond, List.of())));
    return figures;
  }

  /** Measures one rate with some settings. */
  void measure(Figures into, String name, int perSecond, List<BenchWorld.Assignment> settings) {
    run.patience().requireWanted();
    List<BenchWorld.Assignment> all = new ArrayList<>(settings);
    if (plan.nearHorizon()) {
      all.addAll(NEAR);
    }
    try (BenchWorld world = run.world(all)) {
      world.openTo(plan.tenants());
      tell(run, into, name, measure(world, perSecond));
    }
  }

  private ClaimLateness measure(BenchWorld world, int perSecond) {
    BareLoop.Shape shape = world.shape(plan.tenants(), plan.valueBytes());
    BenchDatabase database = world.database();
    Duration step = Duration.ofSeconds(1).dividedBy(perSecond);
    int warmUp = perSecond * plan.warmUpSeconds();
    int tasks = warmUp + perSecond * plan.seconds();
    try (ChildPart dispatcher = world.startWarmDispatcher(shape)) {
      // Nobody tells the dispatcher of them: it must find them when it next reads ahead.
      Duration horizon = world.config().time(Key.DISPATCHER_HORIZON);
      Duration lead = horizon.plus(LOADING).plusSeconds(tasks / LOADED_A_SECOND);
      Instant first = database.loadWaiting(shape, tasks, lead, step);
      if (database.clock().plus(horizon).isAfter(first)) {
        throw new CommandFailure("loading " + tasks + " tasks took too long to find them in time");
      }
      database.settle();
      Instant last = first.plus(step.multipliedBy(tasks));
      run.patience().pass(Duration.between(database.clock(), last));
      world.awaitOutstanding(0, dispatcher, left -> {});
      return checked(database.lateness(first.plus(step.multipliedBy(warmUp))), tasks - warmUp);
    }
  }

  /** Fails if one of them isn't done, or any was claimed too early. */
  static ClaimLateness checked(ClaimLateness seen, int tasks) {
    if (seen.tasks() != tasks) {
      throw new CommandFailure("of " + tasks + " tasks " + seen.tasks() + " are done");
    }
    if (seen.leastMillis() < 0) {
      throw new CommandFailure(
          "a task was claimed " + -seen.leastMillis() + " ms before it was due");
    }
    return seen;
  }

  /** Adds it to what was measured, and tells it. */
  static void tell(BenchRun run, Figures into, String name, ClaimLateness seen) {
    into.add(name, "p50_ms", seen.p50Millis(), "ms");
    into.add(name, "p99_ms", seen.p99Millis(), "ms");
    into.add(name, "max_ms", seen.mostMillis(), "ms");
    run.say(
        String.format(
            Locale.ROOT,
            "  p50 %.1f ms, p99 %.1f ms, at most %.1f ms: %s",
            seen.p50Millis(),
            seen.p99Millis(),
            seen.mostMillis(),
            name));
  }
}
