package io.escapement.ledger;

import java.time.Duration;
import java.util.UUID;

/**
 * The ledger's own settings.
 *
 * @param ledgerId names this ledger in idempotency keys and event sources
 * @param replayWindow how long an identity is surely remembered
 * @param maxPayloadBytes largest value that is admitted
 */
public record LedgerSettings(UUID ledgerId, Duration replayWindow, int maxPayloadBytes) {}
