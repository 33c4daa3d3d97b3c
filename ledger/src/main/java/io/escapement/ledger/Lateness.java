package io.escapement.ledger;

/**
 * How long after its due time each claim came, by the database's clock, in milliseconds, over the
 * attempts that are still in the ledger.
 */
public record Lateness(long claims, double p50Millis, double p99Millis, double maxMillis) {}
