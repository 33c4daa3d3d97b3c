package io.escapement.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.escapement.ledger.LedgerModel.Asked;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.stream.IntStream;

/** What producers, ingest and dispatchers ask of a {@link LedgerDuo}; and time. */
final class WorkCommands {

  private static final List<Integer> ALL_SLOTS = IntStream.range(0, 256).boxed().toList();
  private static final byte[] EFFECT = "effect".getBytes(StandardCharsets.UTF_8);

  private final LedgerDuo duo;

  WorkCommands(LedgerDuo duo) {
    this.duo = duo;
  }

  // Admission

  void admit(SplittableRandom random) {
    List<Asked> batch = new ArrayList<>();
    for (int n = 1 + random.nextInt(5); n > 0; n--) {
      batch.add(asked(random, batch));
    }
    duo.say("admit %s".formatted(batch));
    Instant clock = duo.rows.clock();
    PartitionKey partition = new PartitionKey("requests", UUID.randomUUID(), 0);
    Admission admission =
        duo.rows.ingest.admit(
            new AdmissionBatch(
                List.of(new PositionAdvance(partition, null, batch.size())),
                batch.stream().<Submission>map(a -> request(clock, a)).toList()));
    duo.agree(
        batch.stream().map(a -> duo.model.admit(a).name()).toList(),
        ((Admission.Decided) admission)
            .decisions().stream().map(d -> d.decision().name()).toList());
  }

  private Asked asked(SplittableRandom random, List<Asked> batch) {
    long issued =
        duo.model.now - new int[] {0, 0, 0, 0, 0, 0, 1, 5, 11, 12, -1}[random.nextInt(11)];
    if (random.nextInt(4) == 0 && !duo.model.intents.isEmpty()) {
      Asked known = LedgerDuo.pick(random, List.copyOf(duo.model.intents.values())).asked;
      return new Asked(
          known.source(),
          known.id(),
          known.tenant(),
          known.kind(),
          known.subject(),
          random.nextInt(4) == 0 ? "another" : known.value(),
          issued,
          LedgerModel.NONE,
          LedgerModel.NONE,
          null);
    }
    if (random.nextInt(8) == 0 && !batch.isEmpty()) {
      return batch.get(0);
    }
    boolean strange = random.nextInt(40) == 0;
    // the last two go by preference
    KindDefinition kind =
        random.nextInt(4) == 0
            ? LedgerDuo.KINDS.get(LedgerDuo.KINDS.size() - 1 - random.nextInt(2))
            : LedgerDuo.pick(random, LedgerDuo.KINDS);
    boolean routed = kind.routing() == KindDefinition.Routing.PREFERENCE;
    return new Asked(
        strange && random.nextBoolean() ? "escapement:a/u" : "/s" + random.nextInt(2),
        "n" + random.nextInt(20),
        LedgerDuo.pick(random, LedgerDuo.TENANTS),
        strange ? "undefined" : kind.name(),
        routed == strange ? null : LedgerDuo.SUBJECTS.get(random.nextInt(5) / 4),
        LedgerDuo.pick(
            random, List.of("v", "three", "\u20ac\u20ac", "x".repeat(20), "x".repeat(25))),
        issued,
        random.nextInt(3) > 0
            ? LedgerModel.NONE
            : duo.model.now + new int[] {-1, 0, 1, 3, 8}[random.nextInt(5)],
        random.nextInt(4) > 0
            ? LedgerModel.NONE
            : duo.model.now + new int[] {0, 1, 2, 4, 9}[random.nextInt(5)],
        random.nextInt(3) > 0 ? null : (Integer) (1 + random.nextInt(3)));
  }

  private Submission.Request request(Instant clock, Asked a) {
    return Requests.request(a.id())
        .namespace(a.source())
        .tenant(a.tenant())
        .kind(a.kind())
        .subject(a.subject())
        .value(a.value())
        .issuedAt(Objects.requireNonNull(duo.at(clock, a.issued())))
        .dueAt(duo.at(clock, a.due()))
        .expiresAt(duo.at(clock, a.expires()))
        .maxAttempts(a.maxAttempts())
        .build();
  }

  // Claims

  void claim(SplittableRandom random, String owner) {
    List<ModelTask> wanted = duo.some(random, 1 + random.nextInt(4), ModelTask::waits);
    WorkFilter work = work(random);
    duo.say("claim %s of %s as %s".formatted(labels(wanted), work, owner));
    List<ClaimAnswer> got =
        duo.rows.dispatcher.claim(owner, work, wanted.stream().map(duo::id).toList());
    duo.agree(
        wanted.stream().map(t -> duo.model.claim(owner, work, t)).toList(),
        got.stream().map(this::words).toList());
  }

  void claimDue(SplittableRandom random, String owner) {
    WorkFilter work = work(random);
    List<String> queues =
        duo.model.tasks().stream()
            .filter(t -> duo.model.claimable(work, t))
            .map(t -> t.queue)
            .distinct()
            .toList();
    if (queues.isEmpty() && random.nextInt(8) > 0) {
      pass(random);
      return;
    }
    String queue = LedgerDuo.pick(random, queues.isEmpty() ? LedgerDuo.QUEUES : queues);
    int limit = random.nextInt(3) == 0 ? 1 + random.nextInt(2) : 100;
    duo.say("claim %d due of %s in %s as %s".formatted(limit, work, queue, owner));
    List<ModelTask> due =
        duo.model.tasks().stream()
            .filter(t -> t.queue.equals(queue) && duo.model.claimable(work, t))
            .toList();
    List<ClaimAnswer> got = duo.rows.dispatcher.claimDue(owner, queue, ALL_SLOTS, work, limit);
    List<ModelTask> chosen =
        duo.model.tasks().stream()
            .filter(t -> got.stream().anyMatch(a -> a.task() == duo.id(t)))
            .toList();
    // which of several that are as long due, is the ledger's to choose
    duo.agree(Math.min(limit, due.size()), got.size());
    long latest = chosen.stream().mapToLong(t -> t.due).max().orElse(Long.MIN_VALUE);
    assertThat(due).filteredOn(t -> !chosen.contains(t)).allMatch(t -> t.due >= latest);
    duo.agreeInAnyOrder(
        chosen.stream().map(t -> duo.model.claim(owner, work, t)).toList(),
        got.stream().map(this::words).toList());
  }

  private String words(ClaimAnswer answer) {
    String label = duo.label(answer.task());
    return switch (answer) {
      case ClaimAnswer.Claimed c ->
          label
              + " CLAIMED "
              + c.lease().attempt()
              + " "
              + c.lease().action()
              + " "
              + c.lease().uncertain()
              + " "
              + c.lease().triesLeft()
              + " to "
              + c.lease().address();
      case ClaimAnswer.NotDue n -> label + " NOT_DUE " + duo.fromNow(n.dueAt());
      case ClaimAnswer.Paused p -> label + " PAUSED";
      case ClaimAnswer.Settled s -> label + " SETTLED " + s.state();
      case ClaimAnswer.NotClaimable n -> label + " NOT_CLAIMABLE";
    };
  }

  private static WorkFilter work(SplittableRandom random) {
    return switch (random.nextInt(7)) {
      case 0 -> WorkFilter.ofKinds(List.of("local", "push", "mail-kept", "note"));
      case 1 -> new WorkFilter(null, Set.of("local", "mail", "pay"));
      case 2 -> new WorkFilter(Set.of("local"), Set.of("local", "mail", "push"));
      default -> WorkFilter.ANY;
    };
  }

  void renew(SplittableRandom random) {
    List<LedgerDuo.Held> held =
        duo.held(
            random, duo.some(random, 1 + random.nextInt(3), t -> t.state == TaskState.CLAIMED));
    duo.say("renew %s".formatted(held));
    List<RenewAnswer> got =
        duo.rows.dispatcher.renew(
            held.stream().map(h -> new LeaseKey(duo.id(h.task()), h.attempt())).toList());
    duo.agree(
        held.stream().map(h -> h.task().renew(h.attempt())).toList(),
        got.stream()
            .map(
                a ->
                    duo.label(a.task())
                        + switch (a) {
                          case RenewAnswer.Renewed r -> " RENEWED";
                          case RenewAnswer.CancelRequested c -> " CANCEL_REQUESTED";
                          case RenewAnswer.Busy b -> " BUSY";
                          case RenewAnswer.Lost l -> " LOST";
                        })
            .toList());
  }

  void reclaim(SplittableRandom random) {
    String queue = LedgerDuo.pick(random, LedgerDuo.QUEUES);
    duo.say("reclaim in %s".formatted(queue));
    List<Horizon.Entry> got = duo.rows.dispatcher.reclaim(queue, ALL_SLOTS, 100);
    duo.agreeInAnyOrder(
        duo.model.reclaim(queue),
        got.stream().map(e -> duo.label(e.task()) + " " + duo.fromNow(e.wakeAt())).toList());
  }

  void horizon(SplittableRandom random) {
    String queue = LedgerDuo.pick(random, LedgerDuo.QUEUES);
    WorkFilter work = work(random);
    long until = duo.model.now + random.nextInt(8);
    duo.say("horizon of %s in %s until %d".formatted(work, queue, until - duo.model.now));
    Horizon got =
        duo.rows.dispatcher.horizon(
            queue,
            ALL_SLOTS,
            work,
            Objects.requireNonNull(duo.at(duo.rows.clock(), until)),
            10_000);
    List<String> expected = new ArrayList<>();
    for (ModelTask t : duo.model.tasks()) {
      if (t.queue.equals(queue) && t.state == TaskState.CLAIMED && t.leaseUntil <= until) {
        expected.add(t.label + " true " + LedgerModel.ago(t.leaseUntil, duo.model.now));
      } else if (t.queue.equals(queue)
          && t.waits()
          && t.due <= until
          && LedgerModel.serves(work, t)
          && !duo.model.paused(t)) {
        expected.add(t.label + " false " + LedgerModel.ago(t.due, duo.model.now));
      }
    }
    duo.agreeInAnyOrder(
        expected,
        got.entries().stream()
            .map(e -> duo.label(e.task()) + " " + e.claimed() + " " + duo.fromNow(e.wakeAt()))
            .toList());
  }

  // Observations

  void observe(SplittableRandom random) {
    List<LedgerDuo.Held> held =
        duo.held(
            random, duo.some(random, 1 + random.nextInt(6), t -> t.state == TaskState.CLAIMED));
    List<Observation> seen = new ArrayList<>();
    boolean refused = false;
    for (LedgerDuo.Held h : held) {
      ModelTask t = h.task();
      Observation.Seen word = LedgerDuo.pick(random, List.of(Observation.Seen.values()));
      boolean mine = t.state == TaskState.CLAIMED && t.attempt == h.attempt();
      while (mine && !ModelTask.fits(t.action, word.name()) && random.nextInt(500) > 0) {
        word = LedgerDuo.pick(random, List.of(Observation.Seen.values()));
      }
      refused |= mine && !ModelTask.fits(t.action, word.name());
      seen.add(
          switch (word) {
            case COMPLETED -> Observation.completed(duo.id(t), h.attempt(), EFFECT);
            case RELEASED ->
                random.nextInt(3) == 0
                    ? Observation.postponed(
                        duo.id(t), h.attempt(), "later", LedgerDuo.ticks(random.nextInt(8)))
                    : Observation.released(duo.id(t), h.attempt());
            case REFUSED ->
                Observation.refused(
                    duo.id(t),
                    h.attempt(),
                    "no",
                    random.nextInt(3) == 0 ? LedgerDuo.ticks(random.nextInt(8)) : null);
            default -> Observation.of(duo.id(t), h.attempt(), word, "seen");
          });
    }
    duo.say(
        "observe %s of %s"
            .formatted(
                seen.stream().map(o -> o.seen() + (o.retryAfter() == null ? "" : "+")).toList(),
                held));
    if (refused) {
      assertThatThrownBy(() -> duo.rows.dispatcher.observe(seen))
          .isInstanceOf(LedgerException.class);
      return;
    }
    List<ObserveAnswer> got = duo.rows.dispatcher.observe(seen);
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < held.size(); i++) {
      Observation o = seen.get(i);
      Duration wait = o.retryAfter();
      expected.add(
          held.get(i)
              .task()
              .observe(
                  o.attempt(),
                  o.seen().name(),
                  wait == null ? LedgerModel.NONE : LedgerModel.ticks(wait)));
    }
    duo.agree(expected, got.stream().map(this::words).toList());
  }

  private String words(ObserveAnswer answer) {
    String label = duo.label(answer.task());
    return switch (answer) {
      case ObserveAnswer.Applied a ->
          label + " APPLIED " + a.state() + " " + duo.fromNow(a.dueAt());
      case ObserveAnswer.Late l -> label + " LATE " + l.state() + " " + duo.fromNow(l.dueAt());
      case ObserveAnswer.Repeated r -> label + " REPEATED " + r.state() + " " + r.outcome();
      case ObserveAnswer.NoSuchAttempt n -> label + " NO_SUCH_ATTEMPT";
    };
  }

  // Time

  /** A little, long, or exactly until something is due, over or expired. */
  void pass(SplittableRandom random) {
    long ticks =
        switch (random.nextInt(20)) {
          case 0 -> 20;
          case 1, 2, 3 -> 1 + random.nextInt(4);
          default ->
              duo.model.tasks().stream()
                  .flatMap(t -> List.of(t.due, t.leaseUntil, t.intent.asked.expires()).stream())
                  .mapToLong(at -> at - duo.model.now)
                  .filter(in -> in > 0 && in < 100)
                  .min()
                  .orElse(1);
        };
    duo.say("%d ticks pass".formatted(ticks));
    duo.model.now += ticks;
    duo.rows.pass(ticks);
  }

  private static List<String> labels(List<ModelTask> tasks) {
    return tasks.stream().map(t -> t.label).toList();
  }
}
