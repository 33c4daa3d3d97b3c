package io.escapement.ledger;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A task under lease.
 *
 * @param attempt the fencing token: everything said of this claim names it
 * @param action what the attempt is for
 * @param uncertain whether an earlier call may have been accepted
 * @param address where the recipient wants it; null unless the kind goes by preference
 * @param lease how long the lease lasts from the claim; renewals give the same again
 * @param timeout how long a call to its channel may take; null if the channel makes none
 * @param dueAt when it was due, by the database's clock
 * @param claimedAt when it was claimed, by the database's clock
 * @param triesLeft attempts that may still follow this one
 * @param idempotencyKey the same for every attempt of the task, for calls the handler makes
 * @param namespace the request's source; the recipient, if the kind goes by preference
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
    Action action,
    boolean uncertain,
    @Nullable String address,
    Duration lease,
    @Nullable Duration timeout,
    Instant dueAt,
    Instant claimedAt,
    int triesLeft,
    String idempotencyKey,
    String namespace,
    String id,
    @Nullable String subject,
    @Nullable String contentType,
    byte[] value) {

  /** What an attempt is for. */
  public enum Action {
    /** To do the work in this database. */
    RUN,
    /** To make the call. */
    SEND,
    /** To ask whether an earlier call was accepted. */
    QUERY
  }
}
