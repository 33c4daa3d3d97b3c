package io.escapement.ledger;

import org.jspecify.annotations.Nullable;

/** One record of the commands topic, as far as it could be read without the ledger. */
public sealed interface CommandRecord {

  /** The fence: from where to where the record's partition moves with it. */
  PositionAdvance position();

  /**
   * A record that reads as a command.
   *
   * @param source who asks, as the record says; nobody has checked it
   * @param id with the source: what happens once
   * @param type the operator function
   * @param data its arguments, a JSON text
   * @param value the record's value, kept only if the ledger refuses it as invalid
   * @param envelope the record's key and headers, likewise
   */
  record Command(
      PositionAdvance position,
      long offset,
      String source,
      String id,
      String type,
      String data,
      byte[] value,
      RecordEnvelope envelope)
      implements CommandRecord {}

  /**
   * A record that is refused before the ledger sees its content.
   *
   * @param decision {@link CommandDecision#INVALID} or {@link CommandDecision#OVERSIZE}
   * @param reason names the attribute and what is wrong with it
   * @param source as far as it could be read
   * @param id as far as it could be read
   * @param type as far as it could be read
   * @param value the record's value for the dead-letter topic; null for a null value, and for one
   *     that is beyond the size limit
   */
  record Refused(
      PositionAdvance position,
      long offset,
      CommandDecision decision,
      String reason,
      @Nullable String source,
      @Nullable String id,
      @Nullable String type,
      byte @Nullable [] value,
      RecordEnvelope envelope)
      implements CommandRecord {
    public Refused {
      if (decision != CommandDecision.INVALID && decision != CommandDecision.OVERSIZE) {
        throw new IllegalArgumentException("not refused before the ledger: " + decision);
      }
    }
  }

  /** Offsets without a record: transaction markers, aborted records, or an empty partition. */
  record Nothing(PositionAdvance position) implements CommandRecord {}
}
