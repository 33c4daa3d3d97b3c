package io.escapement.ledger;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A ledger whose rows can be read as {@link LedgerModel#lines} writes them, emptied, and moved into
 * the past, which is how time passes. One thread.
 */
final class LedgerRows implements AutoCloseable {

  private static final String LINES =
      """
      with labelled as (
        select t.*, i.namespace || '|' || i.event_id || '|' || t.channel as label
        from escapement.task t join escapement.intent i on i.id = t.intent_id
      )
      select null::bigint as id, to_char(clock_timestamp() at time zone 'UTC',
               'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as label, null as line
      union all
      select t.id, t.label,
             concat_ws(' ', 'task', t.label, t.queue,
               t.state || case when t.uncertain then ' uncertain' else '' end
                 || case when t.cancel_requested then ' cancel' else '' end,
               'attempt ' || t.attempt || ', tries ' || t.tries_left || ', due',
               public.ticks(t.due_at),
               'for ' || coalesce(t.action::text, '-') || ' by ' || coalesce(t.lease_owner, '-')
                 || ' until ' || public.ticks(t.lease_until),
               'sent ' || public.ticks(t.first_sent_at),
               'expires ' || public.ticks(t.expires_at))
      from labelled t
      union all
      select null, null,
             concat_ws(' ', 'attempt', t.label, a.number, coalesce(a.worker, '-'), a.action,
               a.outcome, coalesce(a.late_outcome, '-'))
      from escapement.attempt a join labelled t on t.id = a.task_id
      union all
      select null, null, concat_ws(' ', 'effect', t.label, e.attempt)
      from escapement.effect e join labelled t on t.id = e.task_id
      union all
      select null, null,
             concat_ws(' ', 'intent', i.namespace || '|' || i.event_id, i.tenant, i.kind,
               i.task_count, public.ticks(i.accepted_at), public.ticks(i.last_issued_at))
      from escapement.intent i
      union all
      select null, null,
             format('budget ''%s'' %s of %s, %s of %s, weight %s', b.tenant,
               b.used_tasks - s.tasks, b.max_tasks, b.used_bytes - s.bytes, b.max_bytes, b.weight)
      from escapement.budget b cross join lateral (
        select coalesce(sum(tasks), 0) as tasks, coalesce(sum(bytes), 0) as bytes
        from escapement.release_slip r where b.tenant in ('', r.tenant)) s
      union all
      select null, null,
             concat_ws(' ', 'preference', p.tenant || '|' || p.subject || '|' || p.channel,
               p.enabled::text, p.address, p.version)
      from escapement.preference p
      union all
      select null, null, concat_ws(' ', 'pause', p.scope, p.name)
      from escapement.pause p
      union all
      select 0, o.events, 'outbox ' || o.id
      from escapement.outbox o where o.id > ?
      """;

  final TestLedger db = TestLedger.create();
  final Ledger ingest = db.connect(Role.INGEST);
  final Ledger dispatcher = db.connect(Role.DISPATCHER);
  final Ledger operator = db.connect(Role.OPERATOR);
  private final Connection owner;
  private final PreparedStatement lines;
  private final PreparedStatement pass;
  private final PreparedStatement switchOn;
  private final PreparedStatement slips;
  private final Map<String, KindDefinition> kinds = new HashMap<>();
  private Map<String, Long> ids = Map.of();
  private final List<String> told = new ArrayList<>();
  private long lastOutbox;
  private Instant clock = Instant.EPOCH;

  LedgerRows() throws SQLException {
    db.execute(
        """
      create function public.ticks(t timestamptz) returns text language sql stable
      return coalesce(round(extract(epoch from t - clock_timestamp()) / 600)::text, '-');

      create function public.pass(ticks int) returns void language plpgsql as $$
      declare
        step constant interval := ticks * interval '10 minutes';
      begin
        update escapement.task set due_at = due_at - step, claimed_at = claimed_at - step,
          lease_until = lease_until - step, first_sent_at = first_sent_at - step,
          expires_at = expires_at - step;
        update escapement.intent set issued_at = issued_at - step,
          last_issued_at = last_issued_at - step, accepted_at = accepted_at - step;
        update escapement.attempt set due_at = due_at - step, claimed_at = claimed_at - step,
          finished_at = finished_at - step, late_at = late_at - step;
      end $$;

      create function public.empty_ledger() returns void language sql as $$
        truncate escapement.intent, escapement.task, escapement.attempt, escapement.effect,
          escapement.release_slip, escapement.outbox, escapement.operator_action,
          escapement.preference, escapement.pause;
        delete from escapement.budget where tenant <> '';
        update escapement.budget set used_tasks = 0, used_bytes = 0;
        update escapement.retention set next_intent = 0;
      $$;

      update escapement.ledger set replay_window = %d * interval '10 minutes',
        max_payload_bytes = %d, default_tenant_tasks = %d, default_tenant_bytes = %d;
      """
            .formatted(
                LedgerModel.WINDOW_TICKS,
                LedgerModel.MAX_VALUE_BYTES,
                LedgerModel.TENANT_TASKS,
                LedgerModel.TENANT_BYTES));
    owner = db.connection();
    lines = owner.prepareStatement(LINES);
    switchOn =
        owner.prepareStatement(
            "insert into escapement.preference (tenant, subject, channel, address, enabled, version)"
                + " values (?, ?, ?, ?, true, 1)");
    slips = owner.prepareStatement("select count(*) from escapement.release_slip");
    pass = owner.prepareStatement("select public.pass(?)");
  }

  /** Every row as text, sorted. */
  List<String> read() {
    Map<String, Long> found = new HashMap<>();
    List<String> all = new ArrayList<>();
    told.clear();
    try {
      lines.setLong(1, lastOutbox);
    } catch (SQLException e) {
      throw new IllegalStateException("reading rows", e);
    }
    try (ResultSet rows = lines.executeQuery()) {
      while (rows.next()) {
        String line = rows.getString(3);
        String label = rows.getString(2);
        if (line == null) {
          clock = Instant.parse(label);
        } else if (line.startsWith("outbox ")) {
          lastOutbox = Math.max(lastOutbox, Long.parseLong(line.substring(7)));
          tell(label);
        } else {
          all.add(line);
        }
        if (line != null && label != null && rows.getLong(1) > 0) {
          found.put(label, rows.getLong(1));
        }
      }
    } catch (SQLException e) {
      throw new IllegalStateException("reading rows", e);
    }
    ids = found;
    all.sort(null);
    return all;
  }

  private void tell(String events) {
    for (OutboxEvent event : OutboxRow.parse(events)) {
      if (event instanceof OutboxEvent.Outcome o) {
        told.add(o.namespace() + "|" + o.id() + "|" + o.channel() + " " + o.change());
      }
    }
  }

  /** What outcome events have told since they were asked for last. */
  List<String> told() {
    return told;
  }

  /** The ids of the tasks that were read last, by the model's names for them. */
  Map<String, Long> ids() {
    return ids;
  }

  /** The database's clock when rows were read last. */
  Instant clock() {
    return clock;
  }

  /** Defines a kind, unless it is defined so already. */
  void define(KindDefinition kind) {
    if (!kind.equals(kinds.put(kind.name(), kind))) {
      operator.defineKind(kind, "model");
    }
  }

  /** As a first preference; many at once would take long by the front door. */
  void switchOn(Preference preference) {
    try {
      switchOn.setString(1, preference.tenant());
      switchOn.setString(2, preference.subject());
      switchOn.setString(3, preference.channel());
      switchOn.setString(4, preference.address());
      switchOn.execute();
    } catch (SQLException e) {
      throw new IllegalStateException("switching a channel on", e);
    }
  }

  /** How many release slips are not folded. */
  long slips() {
    try (ResultSet row = slips.executeQuery()) {
      row.next();
      return row.getLong(1);
    } catch (SQLException e) {
      throw new IllegalStateException("counting slips", e);
    }
  }

  /** Moves everything into the past. */
  void pass(long ticks) {
    try {
      pass.setInt(1, (int) ticks);
      pass.execute();
    } catch (SQLException e) {
      throw new IllegalStateException("passing time", e);
    }
  }

  /** Forgets everything but definitions and limits. */
  void empty() {
    try (Statement statement = owner.createStatement()) {
      statement.execute("select public.empty_ledger()");
    } catch (SQLException e) {
      throw new IllegalStateException("emptying the ledger", e);
    }
    read();
  }

  @Override
  public void close() throws SQLException {
    owner.close();
    db.close();
  }
}
