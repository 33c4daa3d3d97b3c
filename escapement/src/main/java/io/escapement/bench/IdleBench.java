package io.escapement.bench;

import io.escapement.ledger.Role;
import io.escapement.ledger.bench.BareLoop;
import io.escapement.ledger.bench.UsageMeter;
import io.escapement.ledger.bench.UsageMeter.Usage;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What one dispatcher process that has all slots costs while nothing is due: statements and buffers
 * of the database, and processor time of its own.
 *
 * <p>Cost: a ledger of its own for each repeat. Thread rule: one thread. Failure: {@link
 * io.escapement.assembly.CommandFailure}, or {@link io.escapement.ledger.LedgerException} where the
 * server does not count statements.
 */
public final class IdleBench {

  /** What a server must have been started with. */
  public static final Map<String, String> SERVER_SETTINGS =
      Map.of("shared_preload_libraries", "pg_stat_statements");

  /**
   * What to measure.
   *
   * @param repeats of it
   * @param seconds that are measured
   * @param calmSeconds between the last work and the measurement
   * @param waiting tasks that are due tomorrow
   * @param tenants that share the tasks evenly
   * @param valueBytes of each task's intent
   */
  public record Plan(
      int repeats, int seconds, int calmSeconds, int waiting, int tenants, int valueBytes) {}

  private static final String IDLE = "idle";
  private static final double PERCENT = 100;

  private final BenchRun run;
  private final Plan plan;
  private final Figures figures = new Figures("idle");

  public IdleBench(BenchRun run, Plan plan) {
    this.run = run;
    this.plan = plan;
  }

  /** Measures. */
  public Figures run() {
    run.repeat(plan.repeats(), () -> measure(figures, IDLE, List.of()));
    return figures;
  }

  /** Measures once with some settings. */
  void measure(Figures into, String name, List<BenchWorld.Assignment> settings) {
    try (BenchWorld world = run.world(settings);
        UsageMeter meter = world.database().usage(Role.DISPATCHER)) {
      world.openTo(plan.tenants());
      BareLoop.Shape shape = world.shape(plan.tenants(), plan.valueBytes());
      world.database().loadWaiting(shape, plan.waiting(), Duration.ofDays(1), Duration.ZERO);
      try (ChildPart dispatcher = world.startWarmDispatcher(shape)) {
        // So that no vacuum of the server's own is due.
        world.database().settle();
        run.patience().pass(Duration.ofSeconds(plan.calmSeconds()));
        measure(into, name, meter, dispatcher);
      }
    }
  }

  private void measure(Figures into, String name, UsageMeter meter, ChildPart dispatcher) {
    Usage before = meter.read();
    Duration cpuBefore = dispatcher.cpu();
    long begun = System.nanoTime();
    run.patience().pass(Duration.ofSeconds(plan.seconds()));
    double seconds = (System.nanoTime() - begun) / 1e9;
    Duration cpu = dispatcher.cpu().minus(cpuBefore);
    Usage after = meter.read();
    dispatcher.requireAlive();
    double statements = (after.statements() - before.statements()) / seconds;
    double buffers = (after.buffers() - before.buffers()) / seconds;
    double percent = PERCENT * cpu.toNanos() / 1e9 / seconds;
    into.add(name, "statements_per_s", statements, "statements/s");
    into.add(name, "buffers_per_s", buffers, "buffers/s");
    into.add(name, "core_percent", percent, "% of a core");
    run.say(
        String.format(
            Locale.ROOT,
            "  %.2f statements/s, %.0f buffers/s, %.1f %% of a core",
            statements,
            buffers,
            percent));
  }
}
