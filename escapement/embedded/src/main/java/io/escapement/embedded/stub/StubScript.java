package io.escapement.embedded.stub;

import java.util.List;

/**
 * What a reference gets: one step a call, one step a query, in order. What comes after the last
 * step is accepted, or found if it was accepted.
 *
 * @param calls steps such as {@code accept-hang} or {@code refuse:2}, at most 1,000
 * @param queries steps such as {@code find} or {@code fail}, at most 1,000
 */
public record StubScript(List<String> calls, List<String> queries) {

  public StubScript {
    calls = List.copyOf(calls);
    queries = List.copyOf(queries);
  }

  /** A script for calls only. */
  public static StubScript calls(String... steps) {
    return new StubScript(List.of(steps), List.of());
  }
}
