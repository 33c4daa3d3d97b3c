package io.escapement.dispatcher.relay;

import org.jspecify.annotations.Nullable;

/**
 * A relay's numbers in the platform's MBean server, as {@code
 * io.escapement:type=Relay,name=<slot>}. {@link RelayHealth} says what each means; those that only
 * a leader knows are 0 on a standby.
 */
public interface RelayMXBean {

  /** STANDBY, LEADER or STOPPED. */
  String getRole();

  /** How often this relay became the leader. */
  long getTakeOvers();

  /** Kafka transactions committed. */
  long getBatches();

  /** Outbox rows put into Kafka. */
  long getRows();

  /** Events in them. */
  long getEvents();

  /** Log written after what is relayed. */
  long getLagBytes();

  /** For how long at least something committed has waited; resolved to some five seconds. */
  double getLagSeconds();

  /** Log that the server keeps for the slot. */
  long getRetainedBytes();

  /** How far the outbox is relayed; null before the first term. */
  @Nullable String getPosition();

  /** What is wrong; null if all is well. */
  @Nullable String getLastError();
}
