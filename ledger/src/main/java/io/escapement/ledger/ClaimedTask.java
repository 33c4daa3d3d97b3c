package io.escapement.ledger;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A task under lease.
 *
 * @param attempt the fencing token: everything said of this claim names it
 * @param lease how long the lease lasts from the claim; renewals give the same again
 * @param dueAt when it was due, by the database's clock
 * @param claimedAt when it was claimed, by the database's clock
 * @param triesLeft attempts that may still follow this one
 * @param idempotencyKey the same for every attempt of the task, for calls the handler makes
 * @param namespace the request's source
 * @param id the request's id
 * @param value the request's value, byte for byte
 */
public record ClaimedTask(
    long task,
    int attempt,
    String tenant,
    String kind,
    String channel,
    int slot,
    Duration lease,
    Instant dueAt,
    Instant claimedAt,
    int triesLeft,
    String idempotencyKey,
    String namespace,
    String id,
    @Nullable String subject,
    @Nullable String contentType,
    byte[] value) {}
