package io.escapement.bench;

import io.escapement.ledger.bench.OldSnapshot;
import io.escapement.ledger.bench.OutboxWriter;
import java.util.List;
import java.util.Locale;

/**
 * How large the outbox table is, its indexes and what it stores beside itself included, while rows
 * are written at an even rate and a relay, a process of its own, sends and deletes them: in the
 * steady state, while an old snapshot holds vacuum back, and after that.
 */
public final class OutboxBench {

  /**
   * What to measure.
   *
   * @param perSecond rows a second
   * @param events in a row, half of them receipts
   * @param steadySeconds before vacuum is held back; should be more than the grace time after which
   *     relayed rows are deleted
   * @param heldSeconds that it is held back, and that are watched after it
   */
  public record Plan(int perSecond, int events, int steadySeconds, int heldSeconds) {}

  private static final double MEGABYTE = 1 << 20;

  private final BenchRun run;
  private final Plan plan;
  private final Figures figures = new Figures("outbox");
  private long records;

  public OutboxBench(BenchRun run, Plan plan) {
    this.run = run;
    this.plan = plan;
  }

  /** Measures, once: it takes as long as it takes. */
  public Figures run() {
    try (BenchWorld world = run.world(List.of());
        OutboxWriter writer = world.database().outbox();
        ChildPart relay = world.start("relay")) {
      phase(world, writer, relay, "steady", plan.steadySeconds());
      try (OldSnapshot snapshot = world.database().oldSnapshot()) {
        phase(world, writer, relay, "vacuum held back", plan.heldSeconds());
        snapshot.requireOpen();
      }
      phase(world, writer, relay, "after", plan.heldSeconds());
    }
    return figures;
  }

  private void phase(
      BenchWorld world, OutboxWriter writer, ChildPart relay, String name, int seconds) {
    long[] bytes = {0, 0};
    new Pacer(plan.perSecond(), run.patience())
        .run(
            seconds * plan.perSecond(),
            (i, intended) -> {
              int half = plan.events() / 2;
              writer.commit(OutboxRows.admitted(world.topics().requests(), records, half));
              records += half;
              if (i % plan.perSecond() == plan.perSecond() - 1) {
                relay.requireAlive();
                bytes[1] = world.database().outboxBytes();
                bytes[0] = Math.max(bytes[0], bytes[1]);
              }
            });
    figures.add(name, "largest_mb", bytes[0] / MEGABYTE, "MiB");
    figures.add(name, "last_mb", bytes[1] / MEGABYTE, "MiB");
    run.say(
        String.format(
            Locale.ROOT,
            "  %s: at most %.1f MiB, %.1f at its end",
            name,
            bytes[0] / MEGABYTE,
            bytes[1] / MEGABYTE));
  }
}
