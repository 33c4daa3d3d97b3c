package io.escapement.ledger;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One event of an outbox row. A row holds all events of its transaction; {@link OutboxRow} unpacks
 * it.
 */
public sealed interface OutboxEvent {

  /**
   * The decision on one request record: topic {@code receipts}, key: the identity.
   *
   * @param retryAfter when it may be worth sending again; null unless a budget was full
   */
  record Receipt(
      Decision decision,
      String topic,
      int partition,
      long offset,
      @Nullable String tenant,
      @Nullable String kind,
      @Nullable String namespace,
      @Nullable String id,
      @Nullable String reason,
      List<TaskState> tasks,
      @Nullable Duration retryAfter)
      implements OutboxEvent {
    /** A task of the intent that the receipt speaks of, and its state at the decision. */
    public record TaskState(long task, String state) {}
  }

  /**
   * What became of one record of the commands topic: topic {@code receipts}, key: the identity.
   *
   * @param command the operator function that it named
   * @param source who asked, as the record says
   */
  record CommandReceipt(
      CommandDecision decision,
      String topic,
      int partition,
      long offset,
      @Nullable String command,
      @Nullable String source,
      @Nullable String id,
      @Nullable String reason,
      List<CommandResult> results)
      implements OutboxEvent {}

  /** There is work: topic {@code dispatch.<queue>}, key: the task, partition: slot mod P. */
  record Hint(String queue, long task, String tenant, int slot, Instant dueAt)
      implements OutboxEvent {}

  /**
   * A change of a task's state worth telling: topic {@code outcomes}, key: the identity.
   *
   * @param change done, failed, cancelled, suppressed, parked, quarantined, redriven, contradicted
   * @param observation what was seen last; null for an operator's act
   */
  record Outcome(
      String change,
      long task,
      String namespace,
      String id,
      String tenant,
      String kind,
      String channel,
      int attempt,
      @Nullable String observation,
      @Nullable String detail,
      boolean cancelledTooLate)
      implements OutboxEvent {}

  /**
   * A record that could not be read: topic {@code dead-letters}, key, headers and value as
   * received.
   *
   * @param value null for a null value, and where {@code withheld}
   * @param withheld true if the value was too large to keep: coordinates only
   */
  record DeadLetter(
      String topic,
      int partition,
      long offset,
      String reason,
      RecordEnvelope envelope,
      byte @Nullable [] value,
      boolean withheld)
      implements OutboxEvent {}
}
