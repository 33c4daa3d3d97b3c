package io.escapement.ledger;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads what is due soon. */
final class ReadHorizon {

  /** A slot's least share of the limit, so that a small limit over many slots still moves on. */
  private static final int MIN_PER_SLOT = 16;

  private record Row(@Nullable Long task, Horizon.@Nullable Entry entry, Instant at) {}

  private record Lane(int slot, boolean claimed) {}

  private final Statements statements;
  private final String sql = Statements.load("horizon");

  ReadHorizon(Statements statements) {
    this.statements = statements;
  }

  Horizon apply(
      String queue, Collection<Integer> slots, Collection<String> kinds, Instant until, int limit) {
    int perSlot = Math.max(MIN_PER_SLOT, limit / Math.max(1, slots.size()));
    List<Row> rows =
        statements.query(
            "horizon",
            sql,
            p ->
                p.text(queue)
                    .array("int4", slots)
                    .array("text", kinds)
                    .instant(until)
                    .integer(perSlot),
            ReadHorizon::row);
    Instant readAt = rows.get(0).at();
    List<Horizon.Entry> entries = new ArrayList<>(rows.size());
    Map<Lane, Integer> counts = new HashMap<>();
    Map<Lane, Instant> latest = new HashMap<>();
    for (Row row : rows) {
      Horizon.Entry entry = row.entry();
      if (entry != null) {
        entries.add(entry);
        Lane lane = new Lane(entry.slot(), entry.claimed());
        counts.merge(lane, 1, Integer::sum);
        latest.merge(lane, entry.wakeAt(), (a, b) -> a.isAfter(b) ? a : b);
      }
    }
    Instant completeUntil = until;
    for (Map.Entry<Lane, Integer> lane : counts.entrySet()) {
      Instant last = latest.getOrDefault(lane.getKey(), until);
      if (lane.getValue() >= perSlot && last.isBefore(completeUntil)) {
        completeUntil = last;
      }
    }
    return new Horizon(entries, completeUntil, readAt);
  }

  private static Row row(ResultSet row) throws SQLException {
    Instant at = Statements.instant(row, "wake_at");
    long task = row.getLong("task_id");
    if (row.wasNull()) {
      return new Row(null, null, at);
    }
    return new Row(
        task,
        new Horizon.Entry(
            task,
            Statements.text(row, "tenant"),
            row.getInt("slot"),
            at,
            row.getBoolean("claimed")),
        at);
  }
}
