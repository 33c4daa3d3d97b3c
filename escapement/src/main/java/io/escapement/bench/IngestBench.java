package io.escapement.bench;

import io.escapement.config.Key;
import io.escapement.ledger.bench.BareLoop;
import io.escapement.ledger.bench.Gate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * How many tasks a second ingest accepts, from the requests topic to the commit, with one process
 * and with two, beside the same rows written without any protocol.
 *
 * <p>In each case the processes first decide a warm-up; then a gate in the database holds them back
 * while the records to be measured are produced, and is opened. So nothing that is measured
 * competes with the producer, and two processes begin together.
 */
public final class IngestBench {

  /**
   * What to measure.
   *
   * @param repeats of every case, interleaved
   * @param records measured in a case
   * @param warmUp records decided before that
   * @param tenants that share the records evenly
   * @param valueBytes of each record
   * @param history how many ended tasks the ledger holds in further cases; 0: no such cases
   * @param randomIds whether event ids are spread like UUIDs
   */
  public record Plan(
      int repeats,
      int records,
      int warmUp,
      int tenants,
      int valueBytes,
      long history,
      boolean randomIds) {}

  static final String BENCH = "ingest";

  private static final String BARE = "bare";
  private static final String ONE = "one process";
  private static final String TWO = "two processes";
  private static final String WITH_HISTORY = ", history";
  private static final String RATE = "tasks_per_s";
  private static final Duration LIMIT = Duration.ofMinutes(10);

  private final BenchRun run;
  private final Plan plan;
  private final Figures figures = new Figures(BENCH);
  private long seed;

  /** A case: a bare loop or so many processes, in an empty ledger or beside a history. */
  private record Case(String name, int processes, boolean beside) {}

  public IngestBench(BenchRun run, Plan plan) {
    this.run = run;
    this.plan = plan;
  }

  /** Measures. */
  public Figures run() {
    if (plan.history() == 0) {
      repeat(List.of(), null);
      return figures;
    }
    try (BenchWorld old = world()) {
      run.say("loading a history of " + plan.history() + " ended tasks");
      old.database()
          .loadHistory(
              old.shape(plan.tenants(), plan.valueBytes()),
              plan.randomIds(),
              plan.history(),
              loaded -> {
                run.patience().requireWanted();
                run.say("  " + loaded);
              });
      repeat(
          List.of(new Case(BARE + WITH_HISTORY, 0, true), new Case(ONE + WITH_HISTORY, 1, true)),
          old);
    }
    return figures;
  }

  private void repeat(List<Case> more, @Nullable BenchWorld old) {
    List<Case> cases =
        new ArrayList<>(
            List.of(new Case(BARE, 0, false), new Case(ONE, 1, false), new Case(TWO, 2, false)));
    cases.addAll(more);
    for (int repeat = 0; repeat < plan.repeats(); repeat++) {
      Map<String, Double> rates = new TreeMap<>();
      for (Case one : cases) {
        run.patience().requireWanted();
        double rate = measure(one, old);
        rates.put(one.name(), rate);
        run.say(
            String.format(
                Locale.ROOT, "  repeat %d, %s: %.0f tasks/s", repeat + 1, one.name(), rate));
      }
      note(cases, rates);
      // What runs first may have it easier: every case comes first once.
      Collections.rotate(cases, 1);
    }
  }

  private void note(List<Case> cases, Map<String, Double> rates) {
    for (Case one : cases.stream().sorted(Comparator.comparing(Case::name)).toList()) {
      double rate = rates.getOrDefault(one.name(), 0.0);
      figures.add(one.name(), RATE, rate, "tasks/s");
      double bare = rates.getOrDefault(one.beside() ? BARE + WITH_HISTORY : BARE, 0.0);
      figures.add(one.name(), "ratio_to_bare", rate / bare, "ratio");
      if (one.beside()) {
        double empty = rates.getOrDefault(one.name().replace(WITH_HISTORY, ""), 0.0);
        figures.add(one.name(), "history_ratio", rate / empty, "ratio");
      }
    }
  }

  private BenchWorld world() {
    BenchWorld world = run.world(List.of());
    world.openTo(plan.tenants());
    return world;
  }

  private double measure(Case one, @Nullable BenchWorld old) {
    seed++;
    EventIds ids = new EventIds(plan.randomIds(), seed);
    if (one.beside() && old != null) {
      // Its topics are new, so that positions and groups begin anew.
      try (BenchWorld topics = old.withNewTopics(seed)) {
        return one.processes() == 0 ? bare(topics, ids) : ingest(topics, one.processes(), ids);
      }
    }
    try (BenchWorld world = world()) {
      return one.processes() == 0 ? bare(world, ids) : ingest(world, one.processes(), ids);
    }
  }

  private double bare(BenchWorld world, EventIds ids) {
    int batch = world.config().number(Key.INGEST_BATCH);
    try (BareLoop loop =
        world.database().bareLoop(world.shape(plan.tenants(), plan.valueBytes()))) {
      loop.beginAt(seed << 40);
      for (int done = 0; done < plan.warmUp(); done += batch) {
        loop.commit(ids, batch);
      }
      world.database().settle();
      Throughput throughput = new Throughput();
      throughput.note(0);
      for (int done = 0; done < plan.records(); ) {
        run.patience().requireWanted();
        int many = Math.min(batch, plan.records() - done);
        loop.commit(ids, many);
        done += many;
        throughput.note(done);
      }
      return throughput.perSecond(plan.records());
    }
  }

  private double ingest(BenchWorld world, int processes, EventIds ids) {
    List<ChildPart> parts = new ArrayList<>();
    try (RequestProducer producer =
        new RequestProducer(world, plan.tenants(), plan.valueBytes(), 5)) {
      String topic = world.topics().requests();
      for (int p = 0; p < processes; p++) {
        parts.add(world.start("ingest"));
      }
      IngestGroup.awaitShared(world, processes, run.patience());
      producer.send(plan.warmUp(), i -> ids.next());
      producer.finish();
      awaitDecided(world, topic, plan.warmUp(), parts);
      world.database().settle();
      try (Gate gate = world.database().closeGate()) {
        producer.send(plan.records(), i -> ids.next());
        producer.finish();
        run.patience()
            .await(
                processes + " ingest processes at the gate",
                LIMIT,
                parts,
                () -> gate.waiting() >= processes);
      }
      Throughput throughput = new Throughput();
      throughput.note(0);
      run.patience()
          .await(
              "every record to be decided",
              LIMIT,
              parts,
              () -> {
                long done = world.database().decided(topic) - plan.warmUp();
                throughput.note(done);
                return done >= plan.records();
              });
      return throughput.perSecond(plan.records());
    } finally {
      parts.forEach(ChildPart::close);
    }
  }

  private void awaitDecided(BenchWorld world, String topic, long records, List<ChildPart> parts) {
    run.patience()
        .await(
            "the warm-up to be decided",
            LIMIT,
            parts,
            () -> world.database().decided(topic) >= records);
  }
}
