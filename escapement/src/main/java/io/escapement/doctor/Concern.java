package io.escapement.doctor;

/** The part that can't work well while a finding stands. */
public enum Concern {
  INGEST,
  RELAY,
  DISPATCHER
}
