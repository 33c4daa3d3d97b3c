package io.escapement.bench;

import io.escapement.assembly.CommandFailure;
import io.escapement.config.Key;
import io.escapement.ledger.bench.BenchDatabase;
import io.escapement.ledger.bench.ClaimLateness;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * How much a tenant's backlog delays another one's tasks: how late the one dispatcher process
 * claims what a tenant sends evenly, alone, and while another tenant of the same weight has more
 * due than can be done. A relay process tells the dispatcher of what is sent.
 *
 * <p>The backlog must outlast what is measured, so its handlers take so long that all the
 * dispatcher's threads have enough of it.
 *
 * <p>Cost: a ledger of its own for each case of each repeat. Thread rule: one thread. Failure:
 * {@link CommandFailure}, also if the backlog ended too soon.
 */
public final class FairnessBench {

  /**
   * What to measure.
   *
   * @param repeats of either case, in turns
   * @param backlog due tasks of the one tenant
   * @param perSecond tasks a second of the other
   * @param seconds that those are measured for
   * @param warmUpSeconds before that, at the same rate
   * @param handlerMillis that a task of the backlog takes; 0: as many as make it last
   * @param valueBytes of each task that is sent
   */
  public record Plan(
      int repeats,
      int backlog,
      int perSecond,
      int seconds,
      int warmUpSeconds,
      int handlerMillis,
      int valueBytes) {

    /**
     * How long a handler must take at least, for so many threads not to end the backlog too soon,
     * however fast the machine is.
     */
    int handlerMillisFor(int threads) {
      if (handlerMillis > 0) {
        return handlerMillis;
      }
      Duration measured = Duration.ofSeconds(warmUpSeconds + (long) seconds);
      Duration lasting = measured.plus(measured.dividedBy(4)).plus(SLACK);
      return Math.toIntExact(Math.ceilDiv(lasting.toMillis() * threads, (long) backlog));
    }
  }

  private static final String ALONE = "alone";
  private static final String BESIDE = "beside";
  private static final int TENANTS = 2;
  private static final String BUSY = BenchWorld.tenant(0);
  private static final String MEASURED = BenchWorld.tenant(1);

  /** What else happens while the backlog is being done: its beginning, and the last tasks' end. */
  private static final Duration SLACK = Duration.ofSeconds(5);

  private static final Duration LIMIT = Duration.ofMinutes(10);

  private final BenchRun run;
  private final Plan plan;
  private final Figures figures = new Figures("fairness");

  public FairnessBench(BenchRun run, Plan plan) {
    this.run = run;
    this.plan = plan;
  }

  /** Measures. */
  public Figures run() {
    List<String> cases = new ArrayList<>(List.of(BESIDE, ALONE));
    run.repeat(
        plan.repeats(),
        () -> {
          Map<String, Double> p99 = new TreeMap<>();
          cases.forEach(name -> p99.put(name, measure(name)));
          double ratio = p99.getOrDefault(BESIDE, 0.0) / p99.getOrDefault(ALONE, 0.0);
          figures.add(BESIDE, "p99_ratio", ratio, "ratio");
          run.say(String.format(Locale.ROOT, "  p99 %.2f times that alone", ratio));
          // What runs first may have it easier: either case comes first in turn.
          Collections.rotate(cases, 1);
        });
    return figures;
  }

  /** Measures a case; answers with the 99th percentile. */
  private double measure(String name) {
    boolean beside = name.equals(BESIDE);
    try (BenchWorld world = run.world(List.of())) {
      world.openTo(TENANTS);
      try (ChildPart relay = world.start("relay");
          ChildPart dispatcher = world.startWarmDispatcher(world.shape(1, plan.valueBytes()));
          TaskSender sender = new TaskSender(world, MEASURED, plan.valueBytes())) {
        List<ChildPart> parts = List.of(relay, dispatcher);
        if (beside) {
          begin(world, parts);
        }
        ClaimLateness seen = measure(world, sender, parts);
        if (beside && world.database().outstanding(BUSY) == 0) {
          throw new CommandFailure(
              "the backlog ended before the measurement did; let its handlers take longer"
                  + " (--handler-ms)");
        }
        LatenessBench.tell(run, figures, name, seen);
        return seen.p99Millis();
      }
    }
  }

  /** Loads a backlog that is due, and waits until the dispatcher is at it. */
  private void begin(BenchWorld world, List<ChildPart> parts) {
    int threads = world.config().number(Key.DISPATCHER_THREADS);
    BenchDatabase database = world.database();
    database.loadWaiting(
        world.slowShape(plan.handlerMillisFor(threads)),
        plan.backlog(),
        Duration.ZERO,
        Duration.ZERO);
    run.patience()
        .await(
            "the backlog to be begun",
            LIMIT,
            parts,
            () -> database.outstanding(BUSY) < plan.backlog());
  }

  private ClaimLateness measure(BenchWorld world, TaskSender sender, List<ChildPart> parts) {
    BenchDatabase database = world.database();
    int warmUp = plan.perSecond() * plan.warmUpSeconds();
    int measured = plan.perSecond() * plan.seconds();
    Instant[] from = {Instant.MAX};
    new Pacer(plan.perSecond(), run.patience())
        .run(
            warmUp + measured,
            (i, intended) -> {
              if (i == warmUp) {
                from[0] = database.clock();
              }
              sender.send();
            });
    run.patience()
        .await("what was sent to end", LIMIT, parts, () -> database.outstanding(MEASURED) == 0);
    return LatenessBench.checked(database.lateness(from[0]), measured);
  }
}
