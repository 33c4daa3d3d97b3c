package io.escapement.ledger;

import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Decides a batch of records. */
final class Admit {

  private record Row(String decision, @Nullable String reason) {}

  /** A column of one record; null where the record has none. */
  @FunctionalInterface
  private interface Field<S, T> {
    @Nullable T of(S record);
  }

  private static final String FENCED = "fenced";

  private final Statements statements;
  private final String sql = Statements.load("admit");

  Admit(Statements statements) {
    this.statements = statements;
  }

  Admission apply(AdmissionBatch batch) {
    List<Row> rows =
        statements.query(
            "admit",
            sql,
            parameters -> bind(parameters, batch),
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
    return new Admission.Decided(
        rows.stream()
            .map(row -> new Admission.Decided.One(Decision.of(row.decision()), row.reason()))
            .toList());
  }

  private static void bind(Statements.Parameters parameters, AdmissionBatch batch)
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
        .array("bytea", nullable(columns, Columns::envelope));
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
