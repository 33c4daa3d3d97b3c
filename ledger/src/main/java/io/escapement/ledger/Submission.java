package io.escapement.ledger;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One record of a requests topic, as far as it could be read without the ledger.
 *
 * <p>The batch's {@link PositionAdvance}s say which partitions it covers; every submission names
 * one of them by its index.
 */
public sealed interface Submission {

  /** Index into the batch's positions. */
  int positionIndex();

  /** The record's offset in its partition. */
  long offset();

  /**
   * A record that reads as a request. Text fields are bounded and free of control characters; times
   * lie within {@link Limits}.
   *
   * @param namespace the CloudEvent's source
   * @param id the CloudEvent's id; (namespace, id) is the identity
   * @param issuedAt the event's time, or the record's timestamp
   * @param dueAt when due; null means now, by the database's clock
   * @param expiresAt after this moment not worth doing; null means never
   * @param maxAttempts overrides the kind's; null leaves it
   * @param contentType of the value, null if the record did not say
   * @param value the record's value, byte for byte
   * @param envelope the record's key and headers, kept only if the ledger refuses it as invalid
   */
  record Request(
      int positionIndex,
      long offset,
      String namespace,
      String id,
      String tenant,
      String kind,
      @Nullable String subject,
      Instant issuedAt,
      @Nullable Instant dueAt,
      @Nullable Instant expiresAt,
      @Nullable Integer maxAttempts,
      @Nullable String contentType,
      byte[] value,
      RecordEnvelope envelope)
      implements Submission {}

  /**
   * A record that is refused before the ledger sees its content.
   *
   * @param decision {@link Decision#INVALID} or {@link Decision#OVERSIZE}
   * @param reason names the attribute and what is wrong with it
   * @param namespace as far as it could be read
   * @param id as far as it could be read
   * @param tenant as far as it could be read
   * @param kind as far as it could be read
   * @param value the record's value for the dead-letter topic; null for a null value, and for one
   *     that is beyond the size limit
   */
  record Refused(
      int positionIndex,
      long offset,
      Decision decision,
      String reason,
      @Nullable String namespace,
      @Nullable String id,
      @Nullable String tenant,
      @Nullable String kind,
      byte @Nullable [] value,
      RecordEnvelope envelope)
      implements Submission {
    public Refused {
      if (decision != Decision.INVALID && decision != Decision.OVERSIZE) {
        throw new IllegalArgumentException("not refused before the ledger: " + decision);
      }
    }
  }
}
