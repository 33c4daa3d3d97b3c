package io.escapement.bench;

import io.escapement.ledger.bench.OutboxWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the relay alone costs and does, as a process of its own: latency from commit to readable,
 * processor time while nothing comes, rate at full load, and how long nobody relays after a kill.
 * The outbox rows are written directly; there are no tasks behind them.
 */
public final class RelayBench {

  /**
   * What to measure.
   *
   * @param repeats of everything
   * @param perSecond transactions a second at which latencies are measured
   * @param seconds that latencies are measured for
   * @param warmUpSeconds before that, at the same rate
   * @param idleSeconds that processor time is measured for
   * @param events that wait for the relay at full load
   */
  public record Plan(
      int repeats, int perSecond, int seconds, int warmUpSeconds, int idleSeconds, int events) {}

  private static final int HINTS = 4;
  private static final int EVENTS_A_ROW = 500;
  private static final double PERCENT = 100;
  private static final Duration CALM = Duration.ofSeconds(3);
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String IDLE = "idle";
  private static final String FULL = "full load";
  private static final String KILLED = "kill -9 of the leader";

  private final BenchRun run;
  private final Plan plan;
  private final Figures figures = new Figures("relay");

  public RelayBench(BenchRun run, Plan plan) {
    this.run = run;
    this.plan = plan;
  }

  /** Measures. */
  public Figures run() {
    run.repeat(
        plan.repeats(),
        () -> {
          latencyIdleAndTakeover();
          fullLoad();
        });
    return figures;
  }

  private void latencyIdleAndTakeover() {
    int from = plan.perSecond() * plan.warmUpSeconds();
    int to = from + plan.perSecond() * plan.seconds();
    Latencies latencies = new Latencies(to);
    AtomicLong lastTask = new AtomicLong(-1);
    try (BenchWorld world = run.world(List.of());
        CommittedReader hints =
            CommittedReader.follow(
                world,
                world.topics().dispatch("default"),
                (key, nanos) -> {
                  long task = Long.parseLong(new String(key, StandardCharsets.UTF_8));
                  lastTask.accumulateAndGet(task, Math::max);
                  // A transaction is readable when its last hint is.
                  latencies.arrived((int) Math.min(task / HINTS, Integer.MAX_VALUE), nanos);
                });
        OutboxWriter writer = world.database().outbox();
        ChildPart leader = world.start("relay")) {
      awaitProbe(writer, lastTask, leader, (long) to * HINTS);
      latency(writer, hints, latencies, leader, from, to);
      idle(leader);
      takeover(world, writer, lastTask, leader, ((long) to + 1) * HINTS);
    }
  }

  /** A relay that runs may not lead yet. */
  private void awaitProbe(OutboxWriter writer, AtomicLong lastTask, ChildPart relay, long probe) {
    run.patience()
        .await(
            "the relay to lead",
            LIMIT,
            List.of(relay),
            () -> {
              writer.commit(OutboxRows.hints(probe, 1));
              return lastTask.get() >= probe;
            });
  }

  private void latency(
      OutboxWriter writer,
      CommittedReader hints,
      Latencies latencies,
      ChildPart relay,
      int from,
      int to) {
    new Pacer(plan.perSecond(), run.patience())
        .run(
            to,
            (i, intended) -> {
              String row = OutboxRows.hints((long) i * HINTS, HINTS);
              // Before the statement that commits: the time of the commit itself is counted too.
              latencies.begun(i, System.nanoTime());
              writer.commit(row);
            });
    run.patience()
        .await(
            "every hint",
            LIMIT,
            List.of(relay),
            () -> hints.count() > 0 && latencies.allArrived(from, to));
    String name = plan.perSecond() + " transactions a second";
    run.say(latencies.addTo(figures, name, from, to));
  }

  private void idle(ChildPart relay) {
    run.patience().pass(CALM);
    Duration before = relay.cpu();
    long begun = System.nanoTime();
    run.patience().pass(Duration.ofSeconds(plan.idleSeconds()));
    long nanos = System.nanoTime() - begun;
    double percent = PERCENT * relay.cpu().minus(before).toNanos() / nanos;
    relay.requireAlive();
    figures.add(IDLE, "idle_core_percent", percent, "% of a core");
    run.say(String.format(Locale.ROOT, "  %.1f %% of a core while idle", percent));
  }

  private void takeover(
      BenchWorld world,
      OutboxWriter writer,
      AtomicLong lastTask,
      ChildPart leader,
      long firstTask) {
    try (ChildPart standby = world.start("relay")) {
      run.patience().pass(CALM);
      awaitProbe(writer, lastTask, leader, firstTask);
      leader.kill();
      long killed = System.nanoTime();
      writer.commit(OutboxRows.hints(firstTask + 1, 1));
      run.patience()
          .await(
              "the standby to take over",
              LIMIT,
              List.of(standby),
              () -> lastTask.get() > firstTask);
      double millis = (System.nanoTime() - killed) / 1e6;
      figures.add(KILLED, "takeover_ms", millis, "ms");
      run.say(String.format(Locale.ROOT, "  %.0f ms until a standby relays", millis));
    }
  }

  private void fullLoad() {
    try (BenchWorld world = run.world(List.of());
        TopicEnds ends =
            new TopicEnds(
                world, List.of(world.topics().receipts(), world.topics().dispatch("default")))) {
      // The first relay makes the slot, so that what is written next waits for the second one.
      try (ChildPart first = world.start("relay");
          OutboxWriter writer = world.database().outbox()) {
        run.patience()
            .await(
                "the relay to lead",
                LIMIT,
                List.of(first),
                () -> {
                  writer.commit(OutboxRows.hints(0, 1));
                  return ends.sum() > 0;
                });
      }
      preload(world);
      world.database().settle();
      long before = ends.sum();
      try (ChildPart relay = world.start("relay")) {
        figures.add(FULL, "events_per_s", follow(ends, before, relay), "events/s");
      }
    }
  }

  private void preload(BenchWorld world) {
    int rows = Math.ceilDiv(plan.events(), EVENTS_A_ROW);
    try (OutboxWriter writer = world.database().outbox()) {
      for (int row = 0; row < rows; row++) {
        run.patience().requireWanted();
        int records = EVENTS_A_ROW / 2;
        writer.commit(
            OutboxRows.admitted(world.topics().requests(), 1 + (long) row * records, records));
      }
    }
  }

  private double follow(TopicEnds ends, long before, ChildPart relay) {
    long events = (long) Math.ceilDiv(plan.events(), EVENTS_A_ROW) * EVENTS_A_ROW;
    Throughput throughput = new Throughput();
    throughput.note(0);
    long[] lastChange = {0, System.nanoTime()};
    run.patience()
        .await(
            "the relay to send everything",
            LIMIT,
            List.of(relay),
            () -> {
              long done = ends.sum() - before;
              throughput.note(done);
              if (done != lastChange[0]) {
                lastChange[0] = done;
                lastChange[1] = System.nanoTime();
              }
              return done >= events && System.nanoTime() - lastChange[1] > CALM.toNanos();
            });
    // Commit markers stand in the topics too, evenly.
    double share = (double) events / lastChange[0];
    double rate = throughput.perSecond(lastChange[0]) * share;
    run.say(String.format(Locale.ROOT, "  %.0f events/s at full load", rate));
    return rate;
  }
}
