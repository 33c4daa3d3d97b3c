package io.escapement.ingest;

import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/** Where the loop's thread leaves how it is, and any thread reads it. */
final class HealthBoard {

  private final IngestStats stats;
  private volatile IngestHealth health =
      new IngestHealth(IngestHealth.State.RUNNING, 0, 0, Map.of(), Map.of(), null, null);

  HealthBoard(IngestStats stats) {
    this.stats = stats;
  }

  IngestHealth health() {
    return health;
  }

  /** Shows where the partitions stand. */
  void show(Partitions partitions, boolean failing) {
    Map<String, String> stopped = new HashMap<>();
    partitions
        .stopped()
        .forEach((partition, stop) -> stopped.put(partition.toString(), stop.reason()));
    Map<String, String> held = new HashMap<>();
    partitions
        .held()
        .forEach(
            (partition, wait) ->
                held.put(
                    partition.toString(),
                    "offset %d waits for room (%s) since %s"
                        .formatted(wait.record().offset(), wait.full().word(), wait.since())));
    IngestHealth.State state =
        failing || !stopped.isEmpty() ? IngestHealth.State.DEGRADED : IngestHealth.State.RUNNING;
    health =
        new IngestHealth(
            state,
            partitions.count(),
            partitions.waiting().size(),
            held,
            stopped,
            health.lastError(),
            health.lastErrorAt());
  }

  /** Notes a failure. */
  void failed(Throwable failure) {
    stats.failure();
    health =
        new IngestHealth(
            IngestHealth.State.DEGRADED,
            health.partitions(),
            health.waiting(),
            health.held(),
            health.stopped(),
            WireText.oneLine(failure),
            Instant.now());
  }

  /** Notes the end. */
  void end(IngestHealth.State state) {
    health =
        new IngestHealth(
            state, 0, 0, Map.of(), health.stopped(), health.lastError(), health.lastErrorAt());
  }
}
