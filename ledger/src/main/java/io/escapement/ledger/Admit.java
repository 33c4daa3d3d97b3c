package io.escapement.ledger;

import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Decides a batch of records.
 *
 * <p>At first the ledger is asked to lock the budgets last, in the hope that there is room; where
 * there is none it is asked again to look first, and for a while after a refusal only so: a full
 * ledger would do everything twice.
 *
 * <p>Thread rule: any thread.
 */
final class Admit {

  private record Row(String decision, @Nullable String reason) {}

  /** A column of one record; null where the record has none. */
  @FunctionalInterface
  private interface Field<S, T> {
    @Nullable T of(S record);
  }

  private static final String FENCED = "fenced";
  private static final String HELD = "held";
  private static final String NO_ROOM = "ES003";

  private static final long FULL_FOR_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Statements statements;
  private final String sql = Statements.load("admit");

  /** Until then the ledger is taken for full, by the monotonic clock. */
  private volatile long fullUntilNanos = System.nanoTime();

  Admit(Statements statements) {
    this.statements = statements;
  }

  Admission apply(AdmissionBatch batch) {
    if (System.nanoTime() - fullUntilNanos >= 0) {
      try {
        return call(batch, true);
      } catch (LedgerException e) {
        if (!NO_ROOM.equals(e.sqlState())) {
          throw e;
        }
      }
    }
    Admission admission = call(batch, false);
    if (admission instanceof Admission.Decided decided && isFull(decided)) {
      fullUntilNanos = System.nanoTime() + FULL_FOR_NANOS;
    }
    return admission;
  }

  private static boolean isFull(Admission.Decided decided) {
    return !decided.held().isEmpty()
        || decided.decisions().stream()
            .anyMatch(
                one ->
                    one.decision() == Decision.GLOBAL_FULL
                        || one.decision() == Decision.TENANT_FULL);
  }

  private Admission call(AdmissionBatch batch, boolean optimistic) {
    List<Row> rows =
        statements.query(
            "admit",
            sql,
            parameters -> bind(parameters, batch, optimistic),
            row -> new Row(Statements.text(row, "decision"), row.getString("reason")));
    if (!rows.isEmpty() && rows.get(0).decision().equals(FENCED)) {
      List<PartitionKey> fenced = new ArrayList<>();
      for (Row row : rows) {
        int index = Integer.parseInt(String.valueOf(row.reason())) - 1;
        fenced.add(batch.positions().get(index).partition());
      }
      return new Admission.Fenced(fenced);
    }
    if (rows.size() != batch.submissions().size()) {
      throw new LedgerException(
          "admit: " + batch.submissions().size() + " records but " + rows.size() + " decisions");
    }
    return decided(batch, rows);
  }

  private static Admission.Decided decided(AdmissionBatch batch, List<Row> rows) {
    List<Admission.Decided.One> decisions = new ArrayList<>(rows.size());
    Map<Integer, Admission.Decided.Held> held = new LinkedHashMap<>();
    for (int i = 0; i < rows.size(); i++) {
      Row row = rows.get(i);
      if (row.decision().equals(HELD)) {
        Submission submission = batch.submissions().get(i);
        // The first of its partition has the reason; the others only stand behind it.
        held.computeIfAbsent(
            submission.positionIndex(),
            index ->
                new Admission.Decided.Held(
                    index, submission.offset(), Decision.of(String.valueOf(row.reason()))));
      } else {
        decisions.add(new Admission.Decided.One(Decision.of(row.decision()), row.reason()));
      }
    }
    return new Admission.Decided(decisions, List.copyOf(held.values()));
  }

  private static void bind(
      Statements.Parameters parameters, AdmissionBatch batch, boolean optimistic)
      throws SQLException {
    List<PositionAdvance> positions = batch.positions();
    parameters
        .array("text", positions.stream().map(p -> p.partition().topic()).toList())
        .array("uuid", positions.stream().map(p -> p.partition().topicId()).toList())
        .array("int4", positions.stream().map(p -> p.partition().partition()).toList())
        .array("int8", nullable(positions, PositionAdvance::expected))
        .array("int8", positions.stream().map(PositionAdvance::next).toList());
    List<Columns> columns = new ArrayList<>(batch.submissions().size());
    for (Submission submission : batch.submissions()) {
      columns.add(Columns.of(submission));
    }
    parameters
        .array("int4", nullable(columns, Columns::position))
        .array("int8", nullable(columns, Columns::offset))
        .array("text", nullable(columns, Columns::refused))
        .array("text", nullable(columns, Columns::reason))
        .array("text", nullable(columns, Columns::namespace))
        .array("text", nullable(columns, Columns::id))
        .array("text", nullable(columns, Columns::tenant))
        .array("text", nullable(columns, Columns::kind))
        .array("text", nullable(columns, Columns::subject))
        .array("int8", nullable(columns, Columns::issued))
        .array("int8", nullable(columns, Columns::due))
        .array("int8", nullable(columns, Columns::expires))
        .array("int4", nullable(columns, Columns::maxAttempts))
        .array("text", nullable(columns, Columns::contentType))
        .array("bytea", nullable(columns, Columns::value))
        .array("bytea", nullable(columns, Columns::envelope))
        .array("text", nullable(positions, position -> position.whenFull().word()))
        .flag(optimistic);
  }

  private static <S, T> List<@Nullable T> nullable(List<S> from, Field<S, T> field) {
    List<@Nullable T> values = new ArrayList<>(from.size());
    for (S one : from) {
      values.add(field.of(one));
    }
    return values;
  }

  private static @Nullable Long micros(@Nullable Instant instant) {
    return instant == null ? null : ChronoUnit.MICROS.between(Instant.EPOCH, instant);
  }

  /** A submission as the function's parameters have it. */
  private record Columns(
      int position,
      long offset,
      @Nullable String refused,
      @Nullable String reason,
      @Nullable String namespace,
      @Nullable String id,
      @Nullable String tenant,
      @Nullable String kind,
      @Nullable String subject,
      @Nullable Long issued,
      @Nullable Long due,
      @Nullable Long expires,
      @Nullable Integer maxAttempts,
      @Nullable String contentType,
      byte @Nullable [] value,
      byte[] envelope) {

    static Columns of(Submission submission) {
      return switch (submission) {
        case Submission.Request r ->
            new Columns(
                r.positionIndex() + 1,
                r.offset(),
                null,
                null,
                r.namespace(),
                r.id(),
                r.tenant(),
                r.kind(),
                r.subject(),
                micros(r.issuedAt()),
                micros(r.dueAt()),
                micros(r.expiresAt()),
                r.maxAttempts(),
                r.contentType(),
                r.value(),
                r.envelope().encode());
        case Submission.Refused r ->
            new Columns(
                r.positionIndex() + 1,
                r.offset(),
                r.decision().word(),
                Texts.storable(r.reason(), Limits.DETAIL_BYTES),
                Texts.storable(r.namespace(), Limits.NAMESPACE_BYTES),
                Texts.storable(r.id(), Limits.ID_BYTES),
                Texts.storable(r.tenant(), Limits.TENANT_BYTES),
                Texts.storable(r.kind(), Limits.KIND_BYTES),
                null,
                null,
                null,
                null,
                null,
                null,
                r.value(),
                r.envelope().encode());
      };
    }
  }
}
