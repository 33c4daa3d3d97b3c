package io.escapement.ingest;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How ingest is.
 *
 * @param partitions how many this process owns
 * @param waiting how many of them wait for their position to be read
 * @param held the partitions that wait for room, {@code topic-partition}, with what for and since
 *     when
 * @param stopped the partitions that are stopped, {@code topic-partition}, with the reason
 * @param lastError the last failure, still told after it was overcome; null if there was none
 * @param lastErrorAt when, by this machine's clock
 */
public record IngestHealth(
    State state,
    int partitions,
    int waiting,
    Map<String, String> held,
    Map<String, String> stopped,
    @Nullable String lastError,
    @Nullable Instant lastErrorAt) {

  /** Whether it works. */
  public enum State {
    /** Records are decided as they come. */
    RUNNING,
    /** Something fails or a partition is stopped; the rest goes on and failures are retried. */
    DEGRADED,
    /** It was closed. */
    CLOSED,
    /** Its thread ended by a fault that nothing can be done about. */
    FAILED
  }

  public IngestHealth {
    held = Map.copyOf(held);
    stopped = Map.copyOf(stopped);
  }
}
