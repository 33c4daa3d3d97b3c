package io.escapement.ledger.bench;

import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * How long after their tasks were due some tasks that are done were first claimed, by the
 * database's clock.
 *
 * @param tasks how many they are
 * @param leastMillis of any attempt in the ledger; negative: one was claimed too early
 * @param p50Millis of half of them at most
 * @param p99Millis of 99 in 100 at most
 * @param mostMillis of any of them
 */
public record ClaimLateness(
    long tasks, double leastMillis, double p50Millis, double p99Millis, double mostMillis) {

  static ClaimLateness of(ResultSet row) throws SQLException {
    return new ClaimLateness(
        row.getLong(1), row.getDouble(2), row.getDouble(3), row.getDouble(4), row.getDouble(5));
  }
}
