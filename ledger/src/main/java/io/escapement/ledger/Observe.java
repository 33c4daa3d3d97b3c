package io.escapement.ledger;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Settles attempts, alone or in a transaction that a handler shares. */
final class Observe {

  private record Row(
      String answer,
      @Nullable TaskState state,
      @Nullable Instant dueAt,
      @Nullable String outcome) {}

  private final Statements statements;
  private final String observe = Statements.load("observe");
  private final String fence = Statements.load("fence");
  private final String outcome = Statements.load("outcome");

  Observe(Statements statements) {
    this.statements = statements;
  }

  List<ObserveAnswer> apply(List<Observation> observations) {
    requireDistinctTasks(observations);
    return answers(
        observations,
        statements.query("observe", observe, p -> bind(p, observations), Observe::row));
  }

  ObserveAnswer inTransaction(ClaimedTask task, TransactionalWork work) {
    try (Connection connection = statements.connection()) {
      // The pool rolls back and switches autocommit on again when the connection goes back to it.
      connection.setAutoCommit(false);
      ObserveAnswer answer = runFenced(connection, task, work);
      connection.commit();
      return answer;
    } catch (SQLException e) {
      throw new LedgerException("complete task " + task.task(), e);
    }
  }

  Optional<String> outcome(long task, int attempt) {
    List<Optional<String>> rows =
        statements.query(
            "outcome",
            outcome,
            p -> p.number(task).integer(attempt),
            row -> Optional.ofNullable(row.getString(1)));
    return rows.isEmpty() ? Optional.empty() : rows.get(0);
  }

  private ObserveAnswer runFenced(Connection connection, ClaimedTask task, TransactionalWork work)
      throws SQLException {
    String held =
        Statements.query(
                connection,
                fence,
                p -> p.number(task.task()).integer(task.attempt()),
                row -> String.valueOf(row.getString(1)))
            .get(0);
    if (!held.equals("HELD")) {
      // Lost or cancelled: nothing of the work may be committed, so it does not begin.
      Observation unstarted = Observation.released(task.task(), task.attempt());
      return observe(connection, List.of(unstarted)).get(0);
    }
    // The row is free while the work runs, so that its lease can be renewed and its cancellation be
    // asked for. What is committed in the end is fenced by observe.
    connection.rollback();
    Savepoint before = connection.setSavepoint();
    Observation seen = run(connection, task, work);
    if (seen.seen() == Observation.Seen.COMPLETED) {
      ObserveAnswer answer = observe(connection, List.of(seen)).get(0);
      if (answer instanceof ObserveAnswer.Applied applied && applied.state() == TaskState.DONE) {
        return answer;
      }
      // The work is not what the task came to: its lease ended, or its cancellation was asked for,
      // while it ran. Its writes go, and the attempt is settled without them.
      seen =
          Observation.failed(
              task.task(), task.attempt(), "its lease or its task ended while it ran");
    }
    connection.rollback(before);
    return observe(connection, List.of(seen)).get(0);
  }

  /** Runs the work; what it throws is a failure of the task, not of the ledger. */
  private static Observation run(Connection connection, ClaimedTask task, TransactionalWork work) {
    try {
      Savepoint alive = connection.setSavepoint();
      Observation seen = work.run(GuardedConnection.around(connection));
      if (seen.seen() == Observation.Seen.COMPLETED) {
        // Fails if the work ended the transaction, or left it in an error that it swallowed.
        connection.releaseSavepoint(alive);
      }
      if (seen.task() != task.task() || seen.attempt() != task.attempt()) {
        throw new IllegalStateException("the work answered for another task: " + seen.task());
      }
      return seen;
    } catch (Throwable e) {
      // Errors too: a handler that overflows its stack has failed its own task and nothing else.
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
      return Observation.failed(task.task(), task.attempt(), describe(e));
    }
  }

  /** An exception may itself fail when it is asked what it is. */
  private static String describe(Throwable e) {
    try {
      return e.toString();
    } catch (RuntimeException | StackOverflowError unspeakable) {
      return e.getClass().getName();
    }
  }

  private List<ObserveAnswer> observe(Connection connection, List<Observation> observations)
      throws SQLException {
    return answers(
        observations,
        Statements.query(connection, observe, p -> bind(p, observations), Observe::row));
  }

  private static List<ObserveAnswer> answers(List<Observation> observations, List<Row> rows) {
    List<ObserveAnswer> answers = new ArrayList<>(rows.size());
    for (int i = 0; i < rows.size(); i++) {
      answers.add(answer(observations.get(i), rows.get(i)));
    }
    return answers;
  }

  private static void bind(Statements.Parameters parameters, List<Observation> observations)
      throws SQLException {
    List<@Nullable String> details = new ArrayList<>();
    List<byte @Nullable []> effects = new ArrayList<>();
    List<@Nullable String> messageIds = new ArrayList<>();
    List<@Nullable Long> retryAfterMicros = new ArrayList<>();
    for (Observation observation : observations) {
      details.add(Texts.storable(observation.detail(), Limits.DETAIL_BYTES));
      effects.add(observation.effect());
      messageIds.add(Texts.storable(observation.messageId(), Limits.MESSAGE_ID_BYTES));
      retryAfterMicros.add(micros(observation.retryAfter()));
    }
    parameters
        .array("int8", observations.stream().map(Observation::task).toList())
        .array("int4", observations.stream().map(Observation::attempt).toList())
        .array("text", observations.stream().map(o -> o.seen().name()).toList())
        .array("text", details)
        .array("bytea", effects)
        .array("text", messageIds)
        .array("int8", retryAfterMicros);
  }

  /** Bounded, so that a provider's fancy can't overflow. */
  private static @Nullable Long micros(@Nullable Duration wait) {
    if (wait == null) {
      return null;
    }
    Duration bounded = wait.compareTo(Limits.LONGEST_WAIT) > 0 ? Limits.LONGEST_WAIT : wait;
    return bounded.isNegative() ? Long.valueOf(0L) : Long.valueOf(bounded.toNanos() / 1000);
  }

  private static Row row(ResultSet row) throws SQLException {
    String state = row.getString("state");
    return new Row(
        Statements.text(row, "answer"),
        state == null ? null : TaskState.valueOf(state),
        Statements.optionalInstant(row, "due_at"),
        row.getString("outcome"));
  }

  private static ObserveAnswer answer(Observation observation, Row row) {
    long task = observation.task();
    int attempt = observation.attempt();
    TaskState state = row.state();
    if (state == null) {
      return new ObserveAnswer.NoSuchAttempt(task, attempt);
    }
    return switch (row.answer()) {
      case "APPLIED" -> new ObserveAnswer.Applied(task, attempt, state, row.dueAt());
      case "LATE" -> new ObserveAnswer.Late(task, attempt, state, row.dueAt());
      case "REPEATED" ->
          new ObserveAnswer.Repeated(task, attempt, state, String.valueOf(row.outcome()));
      case "NO_SUCH_ATTEMPT" -> new ObserveAnswer.NoSuchAttempt(task, attempt);
      default -> throw new LedgerException("observe: unknown answer '" + row.answer() + "'");
    };
  }

  private static void requireDistinctTasks(List<Observation> observations) {
    Set<Long> tasks = new HashSet<>();
    for (Observation observation : observations) {
      if (!tasks.add(observation.task())) {
        throw new IllegalArgumentException("task " + observation.task() + " twice in one batch");
      }
    }
  }
}
