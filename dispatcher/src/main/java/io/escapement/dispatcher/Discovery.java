package io.escapement.dispatcher;

import java.time.Duration;

/** How a dispatcher finds out that tasks are due. */
public sealed interface Discovery {

  /** Hints of new tasks, and timers for what is due within the horizon: no asking in between. */
  record Wheel() implements Discovery {}

  /**
   * The ledger is asked again and again what is due; hints and timers are not used. To compare the
   * two; lateness is half an interval on average, however idle the database.
   *
   * @param interval between two questions, from a millisecond
   */
  record Poll(Duration interval) implements Discovery {
    private static final Duration LEAST = Duration.ofMillis(1);

    public Poll {
      if (interval.compareTo(LEAST) < 0) {
        throw new DispatcherException(
            "dispatcher.poll-interval is " + interval + "; at least " + LEAST);
      }
    }
  }
}
