package io.escapement.dispatcher;

import java.time.Duration;

/**
 * When a destination that does not answer is left alone.
 *
 * @param calls how many of its last calls are looked at; it is left alone when half of them have
 *     failed or were refused; 0: never
 * @param pause for how long, before a few calls try it again; doubles while they fail, to 32 times
 */
public record Outages(int calls, Duration pause) {

  private static final int MOST_CALLS = 10_000;
  private static final Duration LONGEST_PAUSE = Duration.ofHours(1);

  /** Looks at 20 calls, waits for 5 seconds. */
  public static final Outages DEFAULT = new Outages(20, Duration.ofSeconds(5));

  /** Destinations are never left alone. */
  public static final Outages IGNORED = new Outages(0, Duration.ofSeconds(5));

  public Outages {
    if (calls < 0 || calls > MOST_CALLS) {
      throw new DispatcherException(
          "dispatcher.outage-calls is " + calls + "; it must be 0 to " + MOST_CALLS);
    }
    if (pause.isNegative() || pause.isZero() || pause.compareTo(LONGEST_PAUSE) > 0) {
      throw new DispatcherException(
          "dispatcher.outage-pause is "
              + pause
              + "; more than nothing, "
              + LONGEST_PAUSE
              + " at most");
    }
  }
}
