package io.escapement.ledger;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads what people and services want to know of the ledger. */
final class Inspect {

  private static final String NO_SUCH_RELATION = "42P01";

  private record StateCount(TaskState state, long tasks) {}

  private final Statements statements;
  private final String backlog = Statements.load("backlog");
  private final String budgets = Statements.load("budgets");
  private final String needsReview = Statements.load("needs_review");
  private final String paused = Statements.load("paused");
  private final String held = Statements.load("held");
  private final String taskCounts = Statements.load("task_counts");
  private final String ledgerCounts = Statements.load("ledger_counts");
  private final String lateness = Statements.load("lateness");
  private final String relayLag = Statements.load("relay_lag");
  private final String kinds = Statements.load("kinds");
  private final String channels = Statements.load("channels");
  private final String tenants = Statements.load("tenants");
  private final String settings = Statements.load("settings");
  private final String clock = Statements.load("clock");
  private final String preconditions = Statements.load("preconditions");
  private final String migrations = Statements.load("migrations");

  Inspect(Statements statements) {
    this.statements = statements;
  }

  Status status() {
    List<Status.Backlog> waiting =
        statements.query(
            "backlog",
            backlog,
            p -> {},
            row ->
                new Status.Backlog(
                    Statements.text(row, "queue"),
                    TaskState.valueOf(Statements.text(row, "state")),
                    row.getLong("tasks"),
                    row.getLong("due"),
                    Statements.optionalInstant(row, "oldest_due_at")));
    List<Status.Budget> limits =
        statements.query(
            "budgets",
            budgets,
            p -> {},
            row ->
                new Status.Budget(
                    row.getString("tenant"),
                    row.getLong("used_tasks"),
                    row.getLong("max_tasks"),
                    row.getLong("used_bytes"),
                    row.getLong("max_bytes")));
    long parked = statements.one("needs_review", needsReview, p -> {}, row -> row.getLong(1));
    List<String> pauses =
        statements.query("paused", paused, p -> {}, row -> Statements.text(row, "what"));
    List<Status.Held> holds =
        statements.query(
            "held",
            held,
            p -> {},
            row ->
                new Status.Held(
                    Statements.text(row, "topic"),
                    row.getInt("partition"),
                    row.getLong("position"),
                    Statements.instant(row, "held_since"),
                    Decision.of(Statements.text(row, "held_for"))));
    return new Status(clock(), waiting, limits, parked, pauses, holds, counts().outboxRows());
  }

  LedgerCounts counts() {
    Map<TaskState, Long> tasks = new EnumMap<>(TaskState.class);
    for (StateCount count :
        statements.query(
            "task_counts",
            taskCounts,
            p -> {},
            row ->
                new StateCount(
                    TaskState.valueOf(Statements.text(row, "state")), row.getLong("tasks")))) {
      tasks.put(count.state(), count.tasks());
    }
    return statements.one(
        "ledger_counts",
        ledgerCounts,
        p -> {},
        row ->
            new LedgerCounts(
                tasks, row.getLong("intents"), row.getLong("effects"), row.getLong("outbox_rows")));
  }

  Lateness lateness() {
    return statements.one(
        "lateness",
        lateness,
        p -> {},
        row ->
            new Lateness(
                row.getLong("claims"),
                row.getDouble("p50_ms"),
                row.getDouble("p99_ms"),
                row.getDouble("max_ms")));
  }

  List<RelayLag> relayLag() {
    return statements.query(
        "relay lag",
        relayLag,
        p -> {},
        row ->
            new RelayLag(
                Statements.text(row, "slot"),
                row.getBoolean("active"),
                row.getString("wal_status"),
                row.getLong("lag_bytes"),
                row.getLong("retained_bytes")));
  }

  List<KindDefinition> kinds() {
    return statements.query(
        "kinds",
        kinds,
        p -> {},
        row ->
            new KindDefinition(
                Statements.text(row, "name"),
                Statements.text(row, "queue"),
                KindDefinition.Routing.valueOf(Statements.text(row, "routing")),
                List.of((String[]) row.getArray("channels").getArray()),
                row.getInt("max_attempts"),
                Duration.ofMillis(row.getLong("lease_millis")),
                Duration.ofMillis(row.getLong("timeout_millis")),
                Duration.ofMillis(row.getLong("backoff_base_millis")),
                Duration.ofMillis(row.getLong("backoff_cap_millis")),
                row.getDouble("backoff_jitter"),
                KindDefinition.Exhaustion.valueOf(Statements.text(row, "exhaustion"))));
  }

  List<ChannelDefinition> channels() {
    return statements.query(
        "channels",
        channels,
        p -> {},
        row ->
            new ChannelDefinition(
                Statements.text(row, "name"),
                Contract.valueOf(Statements.text(row, "contract")),
                optionalMillis(row, "timeout_millis"),
                optionalMillis(row, "settle_millis"),
                optionalMillis(row, "key_retention_millis")));
  }

  Map<String, Integer> tenantWeights() {
    Map<String, Integer> weights = new HashMap<>();
    statements.query(
        "tenants",
        tenants,
        p -> {},
        row -> weights.put(Statements.text(row, "tenant"), row.getInt("weight")));
    return weights;
  }

  LedgerSettings settings() {
    return statements.one(
        "settings",
        settings,
        p -> {},
        row ->
            new LedgerSettings(
                row.getObject("ledger_id", UUID.class),
                Duration.ofMillis(row.getLong("replay_window_millis")),
                row.getInt("max_payload_bytes")));
  }

  Preconditions preconditions() {
    return statements.one(
        "preconditions",
        preconditions,
        p -> {},
        row ->
            new Preconditions(
                row.getInt("server_version"),
                Statements.text(row, "wal_level"),
                row.getLong("max_slot_wal_keep_mb"),
                row.getLong("max_replication_slots"),
                row.getLong("replication_slots"),
                row.getInt("max_connections"),
                Statements.text(row, "synchronous_commit"),
                row.getBoolean("durable"),
                Statements.text(row, "encoding"),
                row.getLong("shortest_guard_millis"),
                row.getInt("max_payload_bytes"),
                row.getObject("default_tenant_tasks", Long.class),
                row.getObject("default_tenant_bytes", Long.class),
                row.getLong("max_tenants"),
                row.getLong("max_tasks"),
                row.getLong("max_bytes"),
                row.getLong("tenants"),
                row.getLong("tenants_above"),
                Statements.instant(row, "clock")));
  }

  SchemaState schema() {
    Map<String, Integer> applied = new HashMap<>();
    try {
      statements.query(
          "migrations",
          migrations,
          p -> {},
          row -> applied.put(Statements.text(row, "script"), row.getInt("checksum")));
    } catch (LedgerException e) {
      if (!NO_SUCH_RELATION.equals(e.sqlState())) {
        throw e;
      }
      // A ledger from before it told what had made it: everything is to be migrated.
    }
    return SchemaState.of(applied);
  }

  Instant clock() {
    return statements.one("clock", clock, p -> {}, row -> Statements.instant(row, "clock"));
  }

  private static @Nullable Duration optionalMillis(ResultSet row, String column)
      throws SQLException {
    long millis = row.getLong(column);
    return row.wasNull() ? null : Duration.ofMillis(millis);
  }
}
