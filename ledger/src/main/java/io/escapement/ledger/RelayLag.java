package io.escapement.ledger;

import org.jspecify.annotations.Nullable;

/**
 * How far a reader of the outbox is behind the log.
 *
 * @param active whether anybody streams from the slot
 * @param walStatus PostgreSQL's word: {@code reserved} is well, {@code lost} is lost
 * @param lagBytes log after what is confirmed, everybody's counted
 * @param retainedBytes log that the server keeps for it: what fills its disk while this grows
 */
public record RelayLag(
    String slot, boolean active, @Nullable String walStatus, long lagBytes, long retainedBytes) {}
