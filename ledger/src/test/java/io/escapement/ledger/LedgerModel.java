package io.escapement.ledger;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What the ledger promises, in memory: written from the design's words, not from its SQL.
 *
 * <p>Time is counted in ticks, and stands still unless {@link #now} is moved. Answers and rows are
 * lines of text that begin with what they are about. One thread.
 */
final class LedgerModel {

  static final Duration TICK = Duration.ofMinutes(10);
  static final long NONE = Long.MIN_VALUE;
  static final int WINDOW_TICKS = 12;
  static final int MAX_VALUE_BYTES = 24;
  static final long TENANT_TASKS = 10;
  static final long TENANT_BYTES = 100;

  private static final int HOUR_TICKS = 6;

  /** A request; its times are in ticks. */
  record Asked(
      String source,
      String id,
      String tenant,
      String kind,
      @Nullable String subject,
      String value,
      long issued,
      long due,
      long expires,
      @Nullable Integer maxAttempts) {

    @Override
    public String toString() {
      return "%s %s of %s, %s to %s, '%s' issued %d"
              .formatted(source, id, tenant, kind, subject, value, issued)
          + (due == NONE ? "" : " due " + due)
          + (expires == NONE ? "" : " expires " + expires)
          + (maxAttempts == null ? "" : " tries " + maxAttempts);
    }

    int bytes() {
      return value.getBytes(StandardCharsets.UTF_8).length;
    }

    /** Whether it asks for the same; its other attributes stay the first one's. */
    boolean same(Asked other) {
      return tenant.equals(other.tenant)
          && kind.equals(other.kind)
          && Objects.equals(subject, other.subject)
          && value.equals(other.value);
    }
  }

  /** A request that was accepted. */
  static final class Intent {
    final String key;
    final Asked asked;
    final long acceptedAt;
    final List<ModelTask> tasks = new ArrayList<>();
    long lastIssued;

    Intent(String key, Asked asked, long now) {
      this.key = key;
      this.asked = asked;
      this.acceptedAt = now;
      this.lastIssued = asked.issued;
    }
  }

  record Budget(long maxTasks, long maxBytes, int weight) {}

  final Map<String, ChannelDefinition> channels = new TreeMap<>();
  final Map<String, KindDefinition> kinds = new TreeMap<>();
  final Map<String, Intent> intents = new LinkedHashMap<>();

  /** By tenant; that of the empty name is the whole ledger's. */
  final Map<String, Budget> budgets = new TreeMap<>();

  final Map<String, Preference> preferences = new TreeMap<>();
  final Set<String> pauses = new TreeSet<>();

  /** Which rules were needed: contract, observation, past, tries, cancel, exhaustion. */
  final Set<String> rulesUsed;

  /** What outcome events tell; whoever reads it takes it away. */
  final List<String> told = new ArrayList<>();

  long now;

  LedgerModel(Set<String> rulesUsed) {
    this.rulesUsed = rulesUsed;
  }

  List<ModelTask> tasks() {
    return intents.values().stream().flatMap(i -> i.tasks.stream()).toList();
  }

  // Admission

  private static boolean routed(KindDefinition kind) {
    return kind.routing() == KindDefinition.Routing.PREFERENCE;
  }

  private static String key(KindDefinition kind, Asked a) {
    String tenant = a.tenant.replace("%", "%25").replace("/", "%2F");
    return (routed(kind) ? "escapement:" + tenant + "/" + a.subject : a.source) + "|" + a.id;
  }

  Decision admit(Asked a) {
    KindDefinition kind = kinds.get(a.kind);
    if (kind == null
        || a.issued > now
        || (a.expires != NONE && a.expires <= (a.due == NONE ? a.issued : a.due))
        || (routed(kind) && a.subject == null)
        || a.source.startsWith("escapement:")) {
      return Decision.INVALID;
    }
    String key = key(kind, a);
    Intent known = intents.get(key);
    if (known != null && known.asked.same(a)) {
      known.lastIssued = Math.max(known.lastIssued, a.issued);
      return Decision.REPLAY;
    }
    if (known != null) {
      return Decision.CONFLICT;
    }
    if (a.issued + WINDOW_TICKS <= now) {
      return Decision.TOO_OLD;
    }
    if (a.bytes() > MAX_VALUE_BYTES) {
      return Decision.OVERSIZE;
    }
    List<String> to =
        kind.channels().stream()
            .filter(c -> !routed(kind) || wants(a.tenant, String.valueOf(a.subject), c))
            .toList();
    Budget own = budgets.getOrDefault(a.tenant, new Budget(TENANT_TASKS, TENANT_BYTES, 1));
    if (!to.isEmpty() && !fits("", budget(), to.size(), a.bytes())) {
      return Decision.GLOBAL_FULL;
    }
    if (!to.isEmpty() && !fits(a.tenant, own, to.size(), a.bytes())) {
      return Decision.TENANT_FULL;
    }
    budgets.put(a.tenant, own);
    Intent intent = new Intent(key, a, now);
    intents.put(key, intent);
    for (String channel : to) {
      int tries = a.maxAttempts == null ? kind.maxAttempts() : a.maxAttempts;
      ChannelDefinition c = Objects.requireNonNull(channels.get(channel));
      intent.tasks.add(new ModelTask(this, intent, c, kind.queue(), tries, Math.max(a.due, now)));
    }
    return Decision.ACCEPTED;
  }

  private Budget budget() {
    return Objects.requireNonNull(budgets.get(""));
  }

  void setLimits(long maxTasks, long maxBytes) {
    budgets.put("", new Budget(maxTasks, maxBytes, 1));
  }

  /** What is accepted and has not ended keeps its seat. */
  private List<ModelTask> outstanding(String tenant) {
    return tasks().stream()
        .filter(t -> !t.ended() && (tenant.isEmpty() || t.intent.asked.tenant.equals(tenant)))
        .toList();
  }

  private long usedBytes(String tenant) {
    return outstanding(tenant).stream().mapToLong(t -> t.intent.asked.bytes()).sum();
  }

  private boolean fits(String tenant, Budget budget, int tasks, int bytes) {
    return outstanding(tenant).size() + tasks <= budget.maxTasks
        && usedBytes(tenant) + (long) tasks * bytes <= budget.maxBytes;
  }

  private boolean wants(String tenant, String subject, String channel) {
    Preference p = preferences.get(tenant + "|" + subject + "|" + channel);
    return p != null && p.enabled();
  }

  boolean setPreference(Preference p) {
    String key = p.tenant() + "|" + p.subject() + "|" + p.channel();
    Preference old = preferences.get(key);
    long last = old == null ? 0 : Objects.requireNonNull(old.version());
    Long version = p.version();
    if (version != null && version <= last) {
      return false;
    }
    long next = version == null ? last + 1 : version;
    preferences.put(
        key, new Preference(p.tenant(), p.subject(), p.channel(), p.address(), p.enabled(), next));
    return true;
  }

  // Claims

  boolean paused(ModelTask t) {
    return pauses.contains("queue " + t.queue)
        || pauses.contains("kind " + t.intent.asked.kind)
        || pauses.contains("channel " + t.channel.name())
        || pauses.contains("tenant " + t.intent.asked.tenant);
  }

  static boolean serves(WorkFilter work, ModelTask t) {
    return (work.channels() == null || work.channels().contains(t.channel.name()))
        && (work.kinds() == null
            || work.kinds().contains(t.intent.asked.kind)
            || (work.channels() != null && t.channel.contract() != Contract.TRANSACTIONAL));
  }

  boolean claimable(WorkFilter work, ModelTask t) {
    return t.waits() && t.due <= now && serves(work, t) && !paused(t);
  }

  String claim(String owner, WorkFilter work, ModelTask t) {
    if (t.waits() && t.due > now) {
      return t.label + " NOT_DUE " + ago(t.due, now);
    }
    if (!claimable(work, t)) {
      return t.label + (t.waits() && paused(t) ? " PAUSED" : " NOT_CLAIMABLE");
    }
    String unfit =
        unwanted(t)
            ? "PREFERENCE_OFF"
            : t.expired() ? "TTL_EXPIRED" : t.keyExpired() ? "KEY_EXPIRED" : null;
    if (unfit != null) {
      t.settle(unfit, NONE);
      return t.label + " SETTLED " + t.state;
    }
    return t.claim(owner) + " to " + address(t);
  }

  KindDefinition kind(ModelTask t) {
    return Objects.requireNonNull(kinds.get(t.intent.asked.kind));
  }

  private boolean unwanted(ModelTask t) {
    Asked a = t.intent.asked;
    return routed(kind(t)) && !wants(a.tenant, String.valueOf(a.subject), t.channel.name());
  }

  private @Nullable String address(ModelTask t) {
    Asked a = t.intent.asked;
    Preference p = preferences.get(a.tenant + "|" + a.subject + "|" + t.channel.name());
    return routed(kind(t)) && p != null ? p.address() : null;
  }

  /** The sweep; answers with what waits again. */
  List<String> reclaim(String queue) {
    List<ModelTask> over =
        tasks().stream()
            .filter(t -> t.queue.equals(queue))
            .filter(
                t -> t.state == TaskState.CLAIMED ? t.leaseUntil <= now : t.waits() && t.expired())
            .toList();
    for (ModelTask t : over) {
      String seen =
          t.state == TaskState.CLAIMED
              ? "LEASE_EXPIRED"
              : unwanted(t) ? "PREFERENCE_OFF" : "TTL_EXPIRED";
      t.settle(seen, NONE);
    }
    return over.stream()
        .filter(ModelTask::waits)
        .map(t -> t.label + " " + ago(t.due, now))
        .toList();
  }

  // Operators

  List<String> cancel(String key, boolean unstartedOnly) {
    Intent intent = intents.get(key);
    return intent == null
        ? List.of("NOT_FOUND")
        : intent.tasks.stream().map(t -> t.label + " " + t.cancel(unstartedOnly)).toList();
  }

  Resolved resolve(ModelTask t, Resolution resolution) {
    if (!t.parked()) {
      return Resolved.NOT_PARKED;
    }
    t.settle("MANUAL_" + resolution, NONE);
    return Resolved.valueOf(t.state.name());
  }

  /** Forgets what ended before the window and an hour, if nobody has asked again since. */
  String retire() {
    long before = now - WINDOW_TICKS - HOUR_TICKS;
    List<Intent> old =
        intents.values().stream()
            .filter(i -> i.acceptedAt <= before && i.lastIssued <= before)
            .filter(i -> i.tasks.stream().allMatch(ModelTask::ended))
            .toList();
    intents.values().removeAll(old);
    int tasks = old.stream().mapToInt(i -> i.tasks.size()).sum();
    return old.size() + " intents, " + tasks + " tasks";
  }

  // Rows

  static long ticks(@Nullable Duration d) {
    return d == null ? 0 : d.dividedBy(TICK);
  }

  static String ago(long time, long now) {
    return time == NONE ? "-" : String.valueOf(time - now);
  }

  /** Every row, as text; see the query that says the same of the tables. */
  List<String> lines() {
    List<String> lines = new ArrayList<>();
    for (Intent i : intents.values()) {
      lines.add(
          "intent %s %s %s %d %s %s"
              .formatted(
                  i.key,
                  i.asked.tenant,
                  i.asked.kind,
                  i.tasks.size(),
                  ago(i.acceptedAt, now),
                  ago(i.lastIssued, now)));
      i.tasks.forEach(t -> lines.addAll(t.lines()));
    }
    budgets.forEach(
        (tenant, b) ->
            lines.add(
                "budget '%s' %d of %d, %d of %d, weight %d"
                    .formatted(
                        tenant,
                        outstanding(tenant).size(),
                        b.maxTasks,
                        usedBytes(tenant),
                        b.maxBytes,
                        b.weight)));
    preferences.forEach(
        (key, p) ->
            lines.add(
                "preference %s %s %s %d".formatted(key, p.enabled(), p.address(), p.version())));
    pauses.forEach(p -> lines.add("pause " + p));
    lines.sort(null);
    return lines;
  }
}
