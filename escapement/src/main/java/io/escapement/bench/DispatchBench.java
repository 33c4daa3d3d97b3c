package io.escapement.bench;

import io.escapement.ledger.bench.BareDrain;
import io.escapement.ledger.bench.BareLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * How many due tasks a second one dispatcher process ends whose handler only answers, beside the
 * same tasks claimed and ended without any protocol.
 *
 * <p>Cost: a ledger of its own for each case of each repeat. Thread rule: one thread. Failure:
 * {@link io.escapement.assembly.CommandFailure}.
 */
public final class DispatchBench {

  /**
   * What to measure.
   *
   * @param repeats of either case, in turns
   * @param tasks that are due when a case begins
   * @param tenants that share the tasks evenly
   * @param valueBytes of each task's intent
   */
  public record Plan(int repeats, int tasks, int tenants, int valueBytes) {}

  private static final String FLOOR = "floor";
  private static final String WHEEL = "wheel";
  private static final int FLOOR_BATCH = 500;

  /** The due times of the tasks are spread over so long before now. */
  private static final Duration OVERDUE = Duration.ofMinutes(1);

  private final BenchRun run;
  private final Plan plan;
  private final Figures figures = new Figures("dispatch");

  public DispatchBench(BenchRun run, Plan plan) {
    this.run = run;
    this.plan = plan;
  }

  /** Measures. */
  public Figures run() {
    List<String> cases = new ArrayList<>(List.of(FLOOR, WHEEL));
    for (int repeat = 1; repeat <= plan.repeats(); repeat++) {
      Map<String, Double> rates = new TreeMap<>();
      for (String name : cases) {
        run.patience().requireWanted();
        double rate = measure(name);
        rates.put(name, rate);
        run.say(String.format(Locale.ROOT, "  repeat %d, %s: %.0f tasks/s", repeat, name, rate));
      }
      rates.forEach((name, rate) -> figures.add(name, "tasks_per_s", rate, "tasks/s"));
      double ratio = rates.getOrDefault(WHEEL, 0.0) / rates.getOrDefault(FLOOR, 0.0);
      figures.add(WHEEL, "ratio_to_floor", ratio, "ratio");
      // What runs first may have it easier: either case comes first in turn.
      Collections.rotate(cases, 1);
    }
    return figures;
  }

  private double measure(String name) {
    try (BenchWorld world = run.world(List.of())) {
      world.openTo(plan.tenants());
      BareLoop.Shape shape = world.shape(plan.tenants(), plan.valueBytes());
      world
          .database()
          .loadWaiting(shape, plan.tasks(), OVERDUE.negated(), OVERDUE.dividedBy(plan.tasks()));
      world.database().settle();
      return name.equals(FLOOR) ? floor(world) : wheel(world);
    }
  }

  private double floor(BenchWorld world) {
    Throughput throughput = new Throughput();
    throughput.note(0);
    try (BareDrain drain = world.database().bareDrain()) {
      for (long done = 0; done < plan.tasks(); ) {
        run.patience().requireWanted();
        int ended = drain.commit(FLOOR_BATCH);
        if (ended == 0) {
          throw new IllegalStateException("only " + done + " of the loaded tasks were due");
        }
        done += ended;
        throughput.note(done);
      }
    }
    return throughput.perSecond(plan.tasks());
  }

  private double wheel(BenchWorld world) {
    Throughput throughput = new Throughput();
    throughput.note(0);
    try (ChildPart dispatcher = world.start("dispatch")) {
      world.awaitOutstanding(0, dispatcher, left -> throughput.note(plan.tasks() - left));
    }
    return throughput.perSecond(plan.tasks());
  }
}
