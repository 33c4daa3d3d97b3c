package io.escapement.dispatcher.relay;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * How a relay is doing.
 *
 * @param terms how often this relay became the leader
 * @param batches Kafka transactions that this relay has committed, heartbeats included
 * @param rows outbox rows that this relay has put into Kafka
 * @param events the events in them
 * @param lagBytes log written after what is relayed, where this relay leads; others' log included
 * @param lag at least since when something committed waits, by the watch's heartbeats: zero while
 *     the last of them has come through
 * @param retainedBytes log that the server keeps for the slot: what fills its disk while this grows
 * @param position how far the outbox is relayed, for people; null before the first term
 * @param lastError what went wrong last; null if nothing did, or all is well again
 * @param lastErrorAt when that was
 */
public record RelayHealth(
    Role role,
    long terms,
    long batches,
    long rows,
    long events,
    long lagBytes,
    Duration lag,
    long retainedBytes,
    @Nullable String position,
    @Nullable String lastError,
    @Nullable Instant lastErrorAt) {

  /** What a relay is at the moment. */
  public enum Role {
    /** Waits for the leader to go away, or for its own trouble to pass. */
    STANDBY,
    /** Elected: the one that relays. */
    LEADER,
    /** Not started, or closed. */
    STOPPED
  }
}
