package io.escapement.ledger;

import org.jspecify.annotations.Nullable;

/**
 * A reading of the relay's replication slot.
 *
 * @param confirmed the server may forget what was committed up to here
 * @param written the end of the log when this was read
 * @param retainedBytes log that the server keeps for the slot
 * @param activePid the server process that streams from it; 0 if none does
 * @param unusable why nothing can be streamed from it ever again; null if it can
 */
public record SlotState(
    Lsn confirmed, Lsn written, long retainedBytes, int activePid, @Nullable String unusable) {}
