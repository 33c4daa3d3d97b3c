package io.escapement.ingest;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How the consumer of commands is.
 *
 * @param partitions how many this process owns; none if another process has them all
 * @param stopped the partitions that are stopped, {@code topic-partition}, with the reason
 * @param lastError the last failure, still told after it was overcome; null if there was none
 * @param lastErrorAt when, by this machine's clock
 */
public record CommandHealth(
    State state,
    int partitions,
    Map<String, String> stopped,
    @Nullable String lastError,
    @Nullable Instant lastErrorAt) {

  /** Whether it works. */
  public enum State {
    /** Commands are executed as they come. */
    RUNNING,
    /** Something fails or a partition is stopped; the rest goes on and failures are retried. */
    DEGRADED,
    /** It was closed. */
    CLOSED,
    /** Its thread ended by a fault that nothing can be done about. */
    FAILED
  }

  public CommandHealth {
    stopped = Map.copyOf(stopped);
  }
}
