package io.escapement.ledger;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Operators' definitions, limits and acts on single tasks. */
final class Operate {

  private record Moved(long task, String result) {}

  private final Statements statements;
  private final String defineKind = Statements.load("define_kind");
  private final String defineChannel = Statements.load("define_channel");
  private final String setPreference = Statements.load("set_preference");
  private final String setLimits = Statements.load("set_limits");
  private final String setTenant = Statements.load("set_tenant");
  private final String pause = Statements.load("pause");
  private final String suspend = Statements.load("suspend");
  private final String resume = Statements.load("resume");
  private final String quarantine = Statements.load("quarantine");
  private final String redrive = Statements.load("redrive");
  private final String redriveAll = Statements.load("redrive_all");
  private final String reschedule = Statements.load("reschedule");
  private final String resolve = Statements.load("resolve");
  private final String resolveAll = Statements.load("resolve_all");
  private final String movePosition = Statements.load("move_position");
  private final String retire = Statements.load("retire");

  Operate(Statements statements) {
    this.statements = statements;
  }

  void defineKind(KindDefinition kind, String reason) {
    statements.run(
        "define_kind",
        defineKind,
        p ->
            p.text(kind.name())
                .text(kind.queue())
                .array("text", kind.channels())
                .text(kind.routing().name())
                .integer(kind.maxAttempts())
                .millis(kind.lease())
                .millis(kind.timeout())
                .millis(kind.backoffBase())
                .millis(kind.backoffCap())
                .decimal(kind.backoffJitter())
                .text(kind.exhaustion().name())
                .text(words(reason)));
  }

  void defineChannel(ChannelDefinition channel, String reason) {
    statements.run(
        "define_channel",
        defineChannel,
        p ->
            p.text(channel.name())
                .text(channel.contract().name())
                .millis(channel.timeout())
                .millis(channel.settle())
                .millis(channel.keyRetention())
                .text(words(reason)));
  }

  boolean setPreference(Preference preference, String reason) {
    String result =
        word(
            "set_preference",
            setPreference,
            p ->
                p.text(preference.tenant())
                    .text(preference.subject())
                    .text(preference.channel())
                    .text(preference.address())
                    .flag(preference.enabled())
                    .optionalNumber(preference.version())
                    .text(words(reason)));
    return result.equals("SET");
  }

  void setLimits(long maxTasks, long maxBytes, String reason) {
    statements.run(
        "set_limits", setLimits, p -> p.number(maxTasks).number(maxBytes).text(words(reason)));
  }

  void setTenant(String tenant, long maxTasks, long maxBytes, int weight, String reason) {
    statements.run(
        "set_tenant",
        setTenant,
        p -> p.text(tenant).number(maxTasks).number(maxBytes).integer(weight).text(words(reason)));
  }

  boolean pause(PauseScope scope, String name, String reason) {
    return word("pause", pause, p -> p.text(word(scope)).text(name).text(words(reason)))
        .equals("PAUSED");
  }

  boolean suspend(String channel, String reason) {
    return word("suspend", suspend, p -> p.text(channel).text(words(reason))).equals("PAUSED");
  }

  boolean resume(PauseScope scope, String name, String reason) {
    return word("resume", resume, p -> p.text(word(scope)).text(name).text(words(reason)))
        .equals("RESUMED");
  }

  Quarantined quarantine(long task, String reason) {
    return Quarantined.valueOf(
        word("quarantine", quarantine, p -> p.number(task).text(words(reason))));
  }

  Redriven redrive(long task, int attempt, String reason) {
    return Redriven.valueOf(
        word("redrive", redrive, p -> p.number(task).integer(attempt).text(words(reason))));
  }

  Map<Long, Redriven> redriveAll(TaskFilter filter, int limit, String reason) {
    Map<Long, Redriven> results = new LinkedHashMap<>();
    for (Moved one :
        statements.query(
            "redrive_all",
            redriveAll,
            p ->
                p.text(filter.kind())
                    .text(filter.channel())
                    .text(filter.lastOutcome())
                    .integer(limit)
                    .text(words(reason)),
            row -> new Moved(row.getLong("task_id"), Statements.text(row, "result")))) {
      results.put(one.task(), Redriven.valueOf(one.result()));
    }
    return results;
  }

  Rescheduled reschedule(long task, int attempt, Instant due, String reason) {
    return Rescheduled.valueOf(
        word(
            "reschedule",
            reschedule,
            p -> p.number(task).integer(attempt).instant(due).text(words(reason))));
  }

  Resolved resolve(long task, Resolution resolution, String note) {
    return Resolved.valueOf(
        word("resolve", resolve, p -> p.number(task).text(resolution.name()).text(words(note))));
  }

  Map<Long, Resolved> resolveAll(Resolution resolution, TaskFilter filter, int limit, String note) {
    Map<Long, Resolved> results = new LinkedHashMap<>();
    for (Moved one :
        statements.query(
            "resolve_all",
            resolveAll,
            p ->
                p.text(resolution.name())
                    .text(filter.kind())
                    .text(filter.channel())
                    .text(filter.lastOutcome())
                    .integer(limit)
                    .text(words(note)),
            row -> new Moved(row.getLong("task_id"), Statements.text(row, "result")))) {
      results.put(one.task(), Resolved.valueOf(one.result()));
    }
    return results;
  }

  PositionMoved movePosition(PartitionKey partition, long expected, long position, String reason) {
    return PositionMoved.valueOf(
        word(
            "move_position",
            movePosition,
            p ->
                p.uuid(partition.topicId())
                    .integer(partition.partition())
                    .number(expected)
                    .number(position)
                    .text(words(reason))));
  }

  Forgotten retire(int limit, String reason) {
    List<Forgotten> rows =
        statements.query(
            "retire",
            retire,
            p -> p.integer(limit).text(words(reason)),
            row ->
                new Forgotten(
                    row.getLong("intents"), row.getLong("tasks"), row.getBoolean("at_end")));
    return rows.get(0);
  }

  private String word(String what, String sql, Statements.Binder binder) {
    return statements.one(what, sql, binder, row -> String.valueOf(row.getString(1)));
  }

  private static String word(PauseScope scope) {
    return scope.name().toLowerCase(Locale.ROOT);
  }

  private static @Nullable String words(@Nullable String reason) {
    return Texts.storable(reason, Limits.DETAIL_BYTES);
  }
}
