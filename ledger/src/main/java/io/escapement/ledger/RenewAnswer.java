package io.escapement.ledger;

/** What became of one lease in a renewal. */
public sealed interface RenewAnswer {

  /** The task whose lease it is. */
  long task();

  /** The lease lasts a full length again. */
  record Renewed(long task, int attempt) implements RenewAnswer {}

  /** Renewed, but somebody asked to cancel: stop, nothing will be committed. */
  record CancelRequested(long task, int attempt) implements RenewAnswer {}

  /** The row was locked; nothing is lost, ask again. */
  record Busy(long task, int attempt) implements RenewAnswer {}

  /** The lease is over: another worker may hold the task. */
  record Lost(long task, int attempt) implements RenewAnswer {}
}
