package io.escapement.ledger;

/** One claim: a task and the attempt that holds it. */
public record LeaseKey(long task, int attempt) {}
