package io.escapement.bench;

import io.escapement.config.Key;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What each way of finding due work gives and costs, side by side: lateness under load, and
 * statements and buffers while nothing is due.
 *
 * <p>Cost: two ledgers of their own for each way of each repeat. Thread rule: one thread.
 */
public final class DiscoveryBench {

  /**
   * What to measure.
   *
   * @param repeats of every way
   * @param perSecond due tasks a second while lateness is measured
   * @param intervals of polling; each is a way beside the wheel
   */
  public record Plan(int repeats, int perSecond, List<String> intervals) {
    public Plan {
      intervals = List.copyOf(intervals);
    }
  }

  private final BenchRun run;
  private final Plan plan;
  private final LatenessBench lateness;
  private final IdleBench idle;
  private final Figures figures = new Figures("discovery");

  /** One that measures with these two. */
  public DiscoveryBench(BenchRun run, Plan plan, LatenessBench lateness, IdleBench idle) {
    this.run = run;
    this.plan = plan;
    this.lateness = lateness;
    this.idle = idle;
  }

  /** Measures. */
  public Figures run() {
    run.repeat(
        plan.repeats(),
        () ->
            ways()
                .forEach(
                    (name, settings) -> {
                      lateness.measure(figures, name, plan.perSecond(), settings);
                      idle.measure(figures, name, settings);
                    }));
    return figures;
  }

  private Map<String, List<BenchWorld.Assignment>> ways() {
    Map<String, List<BenchWorld.Assignment>> ways = new LinkedHashMap<>();
    ways.put("wheel", List.of(new BenchWorld.Assignment(Key.DISPATCHER_DISCOVERY, "wheel")));
    for (String interval : plan.intervals()) {
      ways.put(
          "poll " + interval,
          List.of(
              new BenchWorld.Assignment(Key.DISPATCHER_DISCOVERY, "poll"),
              new BenchWorld.Assignment(Key.DISPATCHER_POLL_INTERVAL, interval)));
    }
    return ways;
  }
}
