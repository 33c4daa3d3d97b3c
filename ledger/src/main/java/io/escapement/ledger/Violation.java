package io.escapement.ledger;

/**
 * One finding of the audit: a row that contradicts an invariant.
 *
 * @param invariant its number, {@code I3} say, or {@code REF} for a broken reference
 */
public record Violation(String invariant, String detail) {}
