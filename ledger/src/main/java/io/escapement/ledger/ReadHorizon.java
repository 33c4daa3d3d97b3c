package io.escapement.ledger;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads what is due soon. */
final class ReadHorizon {

  /** A slot's least share of the limit, so that a small limit over many slots still moves on. */
  private static final int MIN_PER_SLOT = 16;

  private record Row(Horizon.@Nullable Entry entry, boolean truncated, Instant at) {}

  private final Statements statements;
  private final String sql = Statements.load("horizon");

  ReadHorizon(Statements statements) {
    this.statements = statements;
  }

  Horizon apply(
      String queue,
      Collection<Integer> slots,
      WorkFilter work,
      Instant until,
      int limit,
      boolean byLane,
      Collection<String> withoutKinds) {
    int perSlot = Math.max(MIN_PER_SLOT, limit / Math.max(1, slots.size()));
    List<Row> rows =
        statements.query(
            "horizon",
            sql,
            p ->
                p.text(queue)
                    .array("int4", slots)
                    .optionalArray("text", work.kinds())
                    .instant(until)
                    .integer(perSlot)
                    .optionalArray("text", work.channels())
                    .flag(byLane)
                    .array("text", withoutKinds),
            ReadHorizon::row);
    Instant readAt = rows.get(0).at();
    List<Horizon.Entry> entries = new ArrayList<>(rows.size());
    Instant completeUntil = until;
    for (Row row : rows) {
      if (row.entry() != null) {
        entries.add(row.entry());
        if (row.truncated() && row.at().isBefore(completeUntil)) {
          completeUntil = row.at();
        }
      }
    }
    return new Horizon(entries, completeUntil, readAt);
  }

  private static Row row(ResultSet row) throws SQLException {
    Instant at = Statements.instant(row, "wake_at");
    long task = row.getLong("task_id");
    if (row.wasNull()) {
      return new Row(null, false, at);
    }
    return new Row(
        new Horizon.Entry(
            task,
            Statements.text(row, "tenant"),
            row.getInt("slot"),
            at,
            row.getBoolean("claimed")),
        row.getBoolean("truncated"),
        at);
  }
}
