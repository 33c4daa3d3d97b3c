package io.escapement.ledger;

/**
 * What one call of forgetting did.
 *
 * @param atEnd whether it has come to the end of what is old enough, and the next call begins anew
 */
public record Forgotten(long intents, long tasks, boolean atEnd) {}
