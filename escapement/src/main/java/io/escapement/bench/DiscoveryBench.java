package io.escapement.bench;

import io.escapement.config.Key;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

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
   */
  public record Plan(int repeats, int perSecond) {}

  private static final Map<String, List<BenchWorld.Assignment>> WAYS = ways();

  private final Plan plan;
  private final LatenessBench lateness;
  private final IdleBench idle;
  private final Consumer<String> said;
  private final Figures figures = new Figures("discovery");

  /** One that measures with these two. */
  public DiscoveryBench(Plan plan, LatenessBench lateness, IdleBench idle, Consumer<String> said) {
    this.plan = plan;
    this.lateness = lateness;
    this.idle = idle;
    this.said = said;
  }

  /** Measures. */
  public Figures run() {
    for (int repeat = 1; repeat <= plan.repeats(); repeat++) {
      said.accept("repeat " + repeat);
      WAYS.forEach(
          (name, settings) -> {
            lateness.measure(figures, name, plan.perSecond(), settings);
            idle.measure(figures, name, settings);
          });
    }
    return figures;
  }

  private static Map<String, List<BenchWorld.Assignment>> ways() {
    Map<String, List<BenchWorld.Assignment>> ways = new LinkedHashMap<>();
    ways.put("wheel", List.of(new BenchWorld.Assignment(Key.DISPATCHER_DISCOVERY, "wheel")));
    for (String interval : List.of("1s", "100ms", "10ms")) {
      ways.put(
          "poll " + interval,
          List.of(
              new BenchWorld.Assignment(Key.DISPATCHER_DISCOVERY, "poll"),
              new BenchWorld.Assignment(Key.DISPATCHER_POLL_INTERVAL, interval)));
    }
    return ways;
  }
}
