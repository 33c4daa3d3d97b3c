package io.escapement.ledger;

import java.time.Instant;

/**
 * Something is due that a worker can't run.
 *
 * @param dueSince when the oldest of it became due, by the database's clock
 */
public record UnservedLane(Lane lane, Instant dueSince) {}
