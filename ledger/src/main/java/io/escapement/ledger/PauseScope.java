package io.escapement.ledger;

/** What can be paused. */
public enum PauseScope {
  QUEUE,
  KIND,
  CHANNEL,
  TENANT
}
