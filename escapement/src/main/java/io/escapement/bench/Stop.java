package io.escapement.bench;

/** Says whether somebody wants the benchmark to end early. */
@FunctionalInterface
public interface Stop {
  /** Whether it should end. */
  boolean isWanted();
}
