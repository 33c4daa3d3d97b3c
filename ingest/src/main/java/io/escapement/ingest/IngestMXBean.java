package io.escapement.ingest;

import java.util.Map;

/**
 * What the consumer of requests, or of commands, of an ingest process shows to JMX, as {@code
 * io.escapement:type=Ingest,name=GROUP}. Counters start with the process. Thread rule: any thread.
 */
public interface IngestMXBean {

  /** RUNNING, DEGRADED, CLOSED or FAILED. */
  String getState();

  /** The last failure, still told after it was overcome; empty if there was none. */
  String getLastError();

  /** Records decided, by decision. */
  Map<String, Long> getDecisions();

  /** Committed transactions. */
  long getBatches();

  /** Partitions whose records were dropped because another owner had moved on. */
  long getFences();

  /** Failures of Kafka or the ledger that were survived. */
  long getFailures();

  /** Records that the ledger could not store and that were refused alone. */
  long getIsolatedRecords();

  /** Partitions that this process owns. */
  int getPartitions();

  /** Partitions whose position is not read yet. */
  int getWaitingPartitions();

  /** Partitions that wait for room, with what for. */
  Map<String, String> getHeldPartitions();

  /** Partitions that are stopped, with why and the cure. */
  Map<String, String> getStoppedPartitions();
}
