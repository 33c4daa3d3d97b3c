package io.escapement.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A ledger and its model: what both are asked about, and that they agree. */
final class LedgerDuo {

  static final List<String> TENANTS = List.of("acme", "a/b", "a");
  static final List<String> SUBJECTS = List.of("u", "b/u");
  static final List<String> QUEUES = List.of("default", "second");

  static final List<ChannelDefinition> CHANNELS =
      List.of(
          ChannelDefinition.idempotent("push", ticks(1), ticks(6)),
          ChannelDefinition.idempotent("pay", ticks(2), null),
          ChannelDefinition.queryable("mail", ticks(2), ticks(4)),
          ChannelDefinition.opaque("fax", ticks(1)));

  static final List<KindDefinition> KINDS = new ArrayList<>();

  static {
    for (String channel : List.of("local", "push", "pay", "mail", "fax")) {
      kind(channel, KindDefinition.Exhaustion.FAILED, channel);
      kind(channel, KindDefinition.Exhaustion.QUARANTINED, channel);
    }
    kind("note", KindDefinition.Exhaustion.FAILED, "push", "mail", "fax", "local");
    kind("note", KindDefinition.Exhaustion.QUARANTINED, "mail", "pay");
  }

  private static void kind(String name, KindDefinition.Exhaustion dead, String... channels) {
    boolean keeps = dead == KindDefinition.Exhaustion.QUARANTINED;
    KINDS.add(
        new KindDefinition(
            name + (keeps ? "-kept" : ""),
            keeps ? "second" : "default",
            name.equals("note") ? KindDefinition.Routing.PREFERENCE : KindDefinition.Routing.FIXED,
            List.of(channels),
            3,
            ticks(3),
            ticks(6),
            ticks(1),
            ticks(5),
            0,
            dead));
  }

  /** A task, and the attempt at it that somebody speaks of. */
  record Held(ModelTask task, int attempt) {
    @Override
    public String toString() {
      return task + "/" + attempt;
    }
  }

  final LedgerRows rows;
  final LedgerModel model;
  private final List<String> log = new ArrayList<>();
  private final Map<Long, String> ended = new HashMap<>();

  /** Every kind of answer that was given. */
  private final Set<String> answers;

  LedgerDuo(LedgerRows rows, Set<String> rulesUsed, Set<String> answers) {
    this.rows = rows;
    this.model = new LedgerModel(rulesUsed);
    this.answers = answers;
  }

  /** The commands so far, in words. */
  List<String> log() {
    return log;
  }

  /** Mostly such tasks, all different. */
  List<ModelTask> some(SplittableRandom random, int most, Predicate<ModelTask> preferred) {
    List<ModelTask> all = model.tasks();
    List<ModelTask> such = all.stream().filter(preferred).toList();
    List<ModelTask> chosen = new ArrayList<>();
    for (int i = 0; i < most; i++) {
      List<ModelTask> from = such.isEmpty() || random.nextInt(8) == 0 ? all : such;
      if (!from.isEmpty()) {
        ModelTask t = pick(random, from);
        if (!chosen.contains(t)) {
          chosen.add(t);
        }
      }
    }
    return chosen;
  }

  /** Mostly at the attempts that they are at. */
  List<Held> held(SplittableRandom random, List<ModelTask> tasks) {
    List<Held> held = new ArrayList<>();
    for (ModelTask t : tasks) {
      int off = new int[] {0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, 1}[random.nextInt(12)];
      held.add(new Held(t, t.attempt + off));
    }
    return held;
  }

  static <T> T pick(SplittableRandom random, List<T> from) {
    return from.get(random.nextInt(from.size()));
  }

  static Duration ticks(int n) {
    return LedgerModel.TICK.multipliedBy(n);
  }

  long id(ModelTask t) {
    return Objects.requireNonNull(rows.ids().get(t.label), t.label);
  }

  String label(long id) {
    for (Map.Entry<String, Long> entry : rows.ids().entrySet()) {
      if (entry.getValue() == id) {
        return entry.getKey();
      }
    }
    return "task " + id;
  }

  String fromNow(@Nullable Instant time) {
    if (time == null) {
      return "-";
    }
    double ticks =
        (double) Duration.between(rows.clock(), time).toMillis() / LedgerModel.TICK.toMillis();
    return String.valueOf(Math.round(ticks));
  }

  @Nullable Instant at(Instant clock, long tick) {
    return tick == LedgerModel.NONE
        ? null
        : clock.plus(LedgerModel.TICK.multipliedBy(tick - model.now));
  }

  // Agreement

  void say(String words) {
    log.add(words);
  }

  void agree(Object expected, Object got) {
    log.add("  -> " + got);
    assertThat(got).isEqualTo(expected);
    answers.addAll(
        Arrays.stream(String.valueOf(got).split("[^A-Z_]+")).filter(w -> w.length() > 2).toList());
  }

  void agreeInAnyOrder(List<String> expected, List<String> got) {
    agree(expected.stream().sorted().toList(), got.stream().sorted().toList());
  }

  /** Every row as the model has it; and what had ended is as it was, or forgotten. */
  void compareRows() {
    List<String> got = rows.read();
    assertThat(rows.told()).containsExactlyInAnyOrderElementsOf(model.told);
    model.told.clear();
    if (!got.equals(model.lines())) {
      assertThat(got).containsExactlyInAnyOrderElementsOf(model.lines());
    }
    Map<Long, String> before = Map.copyOf(ended);
    ended.clear();
    for (ModelTask t : model.tasks()) {
      if (t.ended()) {
        long id = id(t);
        String prefix = "task " + t.label + " ";
        String line = got.stream().filter(l -> l.startsWith(prefix)).findFirst().orElseThrow();
        ended.put(id, line.substring(0, line.indexOf(" expires ")));
        assertThat(ended.get(id)).isEqualTo(before.getOrDefault(id, ended.get(id)));
      }
    }
  }
}
