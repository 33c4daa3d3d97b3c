package io.escapement.ledger;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.Predicate;

/** What operators ask of a {@link LedgerDuo}. */
final class OperatorCommands {

  private final LedgerDuo duo;

  OperatorCommands(LedgerDuo duo) {
    this.duo = duo;
  }

  void cancel(SplittableRandom random) {
    boolean runs = random.nextInt(3) > 0;
    String key =
        random.nextInt(20) == 0 || duo.model.tasks().isEmpty()
            ? "/nobody|n1"
            : duo.some(random, 1, t -> t.state == TaskState.CLAIMED || (!t.ended() && !runs))
                .get(0)
                .intent
                .key;
    boolean unstartedOnly = random.nextInt(4) == 0;
    duo.say("cancel %s%s".formatted(key, unstartedOnly ? " if unstarted" : ""));
    int bar = key.lastIndexOf('|');
    List<CancelAnswer> got =
        duo.rows.operator.cancel(
            key.substring(0, bar), key.substring(bar + 1), unstartedOnly, "model");
    duo.agreeInAnyOrder(
        duo.model.cancel(key, unstartedOnly),
        got.stream()
            .map(a -> (a.task() == 0 ? "" : duo.label(a.task()) + " ") + a.result())
            .toList());
  }

  void quarantine(SplittableRandom random) {
    for (ModelTask t : duo.some(random, 1, ModelTask::waits)) {
      duo.say("quarantine %s".formatted(t.label));
      duo.agree(t.quarantine(), duo.rows.operator.quarantine(duo.id(t), "model"));
    }
  }

  void redrive(SplittableRandom random) {
    List<ModelTask> some = duo.some(random, 1, t -> t.state == TaskState.QUARANTINED);
    if (some.stream().noneMatch(t -> t.state == TaskState.QUARANTINED) && random.nextInt(3) > 0) {
      quarantine(random);
      return;
    }
    for (LedgerDuo.Held h : duo.held(random, some)) {
      duo.say("redrive %s".formatted(h));
      duo.agree(
          h.task().redrive(h.attempt()),
          duo.rows.operator.redrive(duo.id(h.task()), h.attempt(), "model"));
    }
  }

  void reschedule(SplittableRandom random) {
    for (LedgerDuo.Held h : duo.held(random, duo.some(random, 1, ModelTask::waits))) {
      long due = duo.model.now + random.nextInt(7) - 1;
      duo.say("reschedule %s in %d".formatted(h, due - duo.model.now));
      Instant when = Objects.requireNonNull(duo.at(duo.rows.clock(), due));
      duo.agree(
          h.task().reschedule(h.attempt(), due),
          duo.rows.operator.reschedule(duo.id(h.task()), h.attempt(), when, "model"));
    }
  }

  void resolve(SplittableRandom random) {
    for (ModelTask t : duo.some(random, 1, ModelTask::parked)) {
      Resolution word = LedgerDuo.pick(random, List.of(Resolution.values()));
      duo.say("resolve %s as %s".formatted(t.label, word));
      duo.agree(duo.model.resolve(t, word), duo.rows.operator.resolve(duo.id(t), word, "model"));
    }
  }

  void resolveAll(SplittableRandom random) {
    Resolution word = LedgerDuo.pick(random, List.of(Resolution.values()));
    TaskFilter filter = filter(random);
    int limit = random.nextBoolean() ? 1 : 100;
    duo.say("resolve %d of %s as %s".formatted(limit, filter, word));
    List<ModelTask> meant = meant(filter, limit, ModelTask::parked);
    Map<Long, Resolved> got = duo.rows.operator.resolveAll(word, filter, limit, "model");
    duo.agree(
        meant.stream().map(t -> t.label + " " + duo.model.resolve(t, word)).toList(),
        got.entrySet().stream().map(e -> duo.label(e.getKey()) + " " + e.getValue()).toList());
  }

  void redriveAll(SplittableRandom random) {
    TaskFilter filter = filter(random);
    int limit = random.nextBoolean() ? 1 : 100;
    duo.say("redrive %d of %s".formatted(limit, filter));
    List<ModelTask> meant = meant(filter, limit, t -> t.state == TaskState.QUARANTINED);
    Map<Long, Redriven> got = duo.rows.operator.redriveAll(filter, limit, "model");
    duo.agree(
        meant.stream().map(t -> t.label + " " + t.redrive(t.attempt)).toList(),
        got.entrySet().stream().map(e -> duo.label(e.getKey()) + " " + e.getValue()).toList());
  }

  private static TaskFilter filter(SplittableRandom random) {
    return new TaskFilter(
        random.nextInt(4) == 0 ? LedgerDuo.pick(random, LedgerDuo.KINDS).name() : null,
        random.nextInt(4) == 0 ? LedgerDuo.pick(random, LedgerDuo.CHANNELS).name() : null,
        random.nextInt(4) == 0
            ? LedgerDuo.pick(random, List.of("TIMEOUT", "LEASE_EXPIRED", "REFUSED", "FAILED"))
            : null);
  }

  private List<ModelTask> meant(TaskFilter filter, int limit, Predicate<ModelTask> which) {
    return duo.model.tasks().stream()
        .filter(which)
        .filter(t -> filter.kind() == null || filter.kind().equals(t.intent.asked.kind()))
        .filter(t -> filter.channel() == null || filter.channel().equals(t.channel.name()))
        .filter(t -> filter.lastOutcome() == null || filter.lastOutcome().equals(t.lastOutcome()))
        .sorted((a, b) -> Long.compare(duo.id(a), duo.id(b)))
        .limit(limit)
        .toList();
  }

  void limits(SplittableRandom random) {
    long tasks = new long[] {5, 10, 20, 25}[random.nextInt(4)];
    long bytes = new long[] {60, 100, 250, 300}[random.nextInt(4)];
    if (random.nextBoolean()) {
      duo.say("limits %d, %d".formatted(tasks, bytes));
      setLimits(tasks, bytes);
      return;
    }
    String tenant = LedgerDuo.pick(random, LedgerDuo.TENANTS);
    int weight = 1 + random.nextInt(9);
    duo.say("limits of %s %d, %d, weight %d".formatted(tenant, tasks, bytes, weight));
    duo.rows.operator.setTenant(tenant, tasks, bytes, weight, "model");
    duo.model.budgets.put(tenant, new LedgerModel.Budget(tasks, bytes, weight));
  }

  void setLimits(long tasks, long bytes) {
    duo.rows.operator.setLimits(tasks, bytes, "model");
    duo.model.setLimits(tasks, bytes);
  }

  void preference(SplittableRandom random) {
    Preference preference =
        new Preference(
            LedgerDuo.pick(random, LedgerDuo.TENANTS),
            LedgerDuo.SUBJECTS.get(random.nextInt(5) / 4),
            LedgerDuo.pick(random, List.copyOf(duo.model.channels.keySet())),
            "to:" + random.nextInt(10),
            random.nextBoolean(),
            random.nextBoolean() ? null : (Long) (1L + random.nextInt(4)));
    duo.say("set %s".formatted(preference));
    setPreference(preference);
  }

  void setPreference(Preference preference) {
    duo.agree(
        duo.model.setPreference(preference), duo.rows.operator.setPreference(preference, "model"));
  }

  void pause(SplittableRandom random) {
    PauseScope scope = LedgerDuo.pick(random, List.of(PauseScope.values()));
    String name =
        switch (scope) {
          case QUEUE -> LedgerDuo.pick(random, LedgerDuo.QUEUES);
          case KIND -> LedgerDuo.pick(random, LedgerDuo.KINDS).name();
          case CHANNEL -> LedgerDuo.pick(random, LedgerDuo.CHANNELS).name();
          case TENANT -> LedgerDuo.pick(random, LedgerDuo.TENANTS);
        };
    String line = scope.name().toLowerCase(java.util.Locale.ROOT) + " " + name;
    if (random.nextInt(3) == 0) {
      duo.say("pause %s".formatted(line));
      duo.agree(duo.model.pauses.add(line), duo.rows.operator.pause(scope, name, "model"));
    } else {
      // more often than not, so that something goes on
      for (String paused : List.copyOf(duo.model.pauses)) {
        duo.say("resume %s".formatted(paused));
        String[] words = paused.split(" ", 2);
        PauseScope its = PauseScope.valueOf(words[0].toUpperCase(java.util.Locale.ROOT));
        duo.agree(
            duo.model.pauses.remove(paused), duo.rows.operator.resume(its, words[1], "model"));
      }
      duo.agree(duo.model.pauses.remove(line), duo.rows.operator.resume(scope, name, "model"));
    }
  }

  void retire(SplittableRandom random) {
    duo.say("retire");
    Forgotten got =
        random.nextBoolean()
            ? duo.rows.operator.retire(1_000, "model")
            : duo.rows.dispatcher.forget(1_000);
    duo.agree(duo.model.retire(), got.intents() + " intents, " + got.tasks() + " tasks");
  }

  void fold() {
    duo.say("fold");
    duo.rows.dispatcher.fold();
    duo.agree(0L, duo.rows.slips());
  }

  private static KindDefinition redefined(SplittableRandom random) {
    KindDefinition kind = LedgerDuo.pick(random, LedgerDuo.KINDS);
    return new KindDefinition(
        kind.name(),
        kind.queue(),
        kind.routing(),
        kind.channels(),
        1 + random.nextInt(4),
        LedgerDuo.ticks(3 + random.nextInt(2)),
        kind.timeout(),
        LedgerDuo.ticks(random.nextInt(3)),
        kind.backoffCap(),
        0,
        LedgerDuo.pick(random, List.of(KindDefinition.Exhaustion.values())));
  }

  void redefine(SplittableRandom random) {
    KindDefinition kind = redefined(random);
    duo.say("define %s".formatted(kind));
    duo.rows.define(kind);
    duo.model.kinds.put(kind.name(), kind);
  }
}
