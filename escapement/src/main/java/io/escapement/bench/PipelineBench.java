package io.escapement.bench;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The way of a task through all of it: produced, decided, told to the dispatcher, run, and its
 * outcome read by a consumer of committed records. Ingest, relay and dispatcher are a process each.
 */
public final class PipelineBench {

  /**
   * What to measure.
   *
   * @param repeats of everything
   * @param tasks whose way is timed as a whole
   * @param warmUp tasks before that
   * @param perSecond at which latencies are measured
   * @param seconds that latencies are measured for
   * @param warmUpSeconds before that, at the same rate
   * @param tenants that share the tasks evenly
   * @param valueBytes of each
   */
  public record Plan(
      int repeats,
      int tasks,
      int warmUp,
      int perSecond,
      int seconds,
      int warmUpSeconds,
      int tenants,
      int valueBytes) {}

  private static final Duration LIMIT = Duration.ofMinutes(10);
  private static final int LINGER_BULK_MILLIS = 5;
  private static final String NUMBERED = BenchWorld.SOURCE + "|n";

  private final BenchRun run;
  private final Plan plan;
  private final Figures figures = new Figures("pipeline");

  public PipelineBench(BenchRun run, Plan plan) {
    this.run = run;
    this.plan = plan;
  }

  /** Measures. */
  public Figures run() {
    run.repeat(plan.repeats(), this::measure);
    return figures;
  }

  private void measure() {
    int steps = plan.perSecond() * (plan.warmUpSeconds() + plan.seconds());
    Latencies latencies = new Latencies(steps);
    List<ChildPart> parts = new ArrayList<>();
    try (BenchWorld world = run.world(List.of())) {
      world.openTo(plan.tenants());
      try (CommittedReader outcomes =
          CommittedReader.follow(
              world,
              world.topics().outcomes(),
              (key, nanos) -> latencies.arrived(number(key), nanos))) {
        for (String part : List.of("relay", "dispatch", "ingest")) {
          parts.add(world.start(part));
        }
        whole(world, outcomes, parts);
        oneByOne(world, latencies, parts);
      } finally {
        parts.reversed().forEach(ChildPart::close);
      }
    }
  }

  /** As fast as it goes. */
  private void whole(BenchWorld world, CommittedReader outcomes, List<ChildPart> parts) {
    try (RequestProducer producer =
        new RequestProducer(world, plan.tenants(), plan.valueBytes(), LINGER_BULK_MILLIS)) {
      producer.send(plan.warmUp(), i -> "warm-" + i);
      awaitCount(outcomes, plan.warmUp(), parts);
      world.database().settle();
      long begun = System.nanoTime();
      producer.send(plan.tasks(), i -> "task-" + i);
      producer.finish();
      awaitCount(outcomes, plan.warmUp() + (long) plan.tasks(), parts);
      double rate = plan.tasks() * 1e9 / (System.nanoTime() - begun);
      figures.add("immediate tasks", "tasks_per_s", rate, "tasks/s");
      run.say(String.format(Locale.ROOT, "  %.0f tasks/s from topic to outcome", rate));
    }
  }

  /** Evenly, far below what it can do. */
  private void oneByOne(BenchWorld world, Latencies latencies, List<ChildPart> parts) {
    world.database().settle();
    int from = plan.perSecond() * plan.warmUpSeconds();
    int to = from + plan.perSecond() * plan.seconds();
    try (RequestProducer producer =
        new RequestProducer(world, plan.tenants(), plan.valueBytes(), 0)) {
      new Pacer(plan.perSecond(), run.patience())
          .run(
              to,
              (i, intended) -> {
                latencies.begun(i, intended);
                producer.send("n" + i);
              });
      producer.finish();
      run.patience().await("every outcome", LIMIT, parts, () -> latencies.allArrived(from, to));
    }
    String name = plan.perSecond() + " a second";
    run.say(latencies.addTo(figures, name, from, to));
  }

  private void awaitCount(CommittedReader outcomes, long wanted, List<ChildPart> parts) {
    run.patience().await(wanted + " outcomes", LIMIT, parts, () -> outcomes.count() >= wanted);
  }

  /** The number in the key of an event whose latency is measured; -1: another one. */
  private static int number(byte[] key) {
    String text = new String(key, StandardCharsets.UTF_8);
    return text.startsWith(NUMBERED) ? Integer.parseInt(text.substring(NUMBERED.length())) : -1;
  }
}
