package io.escapement.ledger;

/**
 * One thing that a command did, as it was written down.
 *
 * @param target what it was done to
 * @param result the operator function's word
 */
public record CommandResult(String target, String result) {}
