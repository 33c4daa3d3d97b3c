package io.escapement.cli;

import java.io.PrintStream;
import java.time.Duration;

/**
 * A line that tells progress: redrawn in place on a terminal, one below the other elsewhere.
 * Whether there is a terminal, and how wide, only the launcher can see on every Java version.
 *
 * <p>Thread rule: one thread at a time.
 */
final class ProgressLine {

  private static final Duration ON_TERMINAL = Duration.ofMillis(250);
  private static final Duration ELSEWHERE = Duration.ofSeconds(1);
  private static final String BACK_AND_CLEAR = "\r\u001b[K";

  private final PrintStream out;
  private final int columns;
  private boolean open;

  ProgressLine(PrintStream out) {
    this(out, Integer.getInteger("escapement.columns", 0));
  }

  /**
   * A line.
   *
   * @param columns of the terminal; 0 if there is none
   */
  ProgressLine(PrintStream out, int columns) {
    this.out = out;
    this.columns = columns;
  }

  /** How often it is worth showing. */
  Duration every() {
    return columns > 0 ? ON_TERMINAL : ELSEWHERE;
  }

  void show(String text) {
    if (columns > 0) {
      // One less: a full line would wrap, and could not be drawn over.
      out.print(BACK_AND_CLEAR + text.substring(0, Math.min(text.length(), columns - 1)));
      open = true;
    } else {
      out.println(text);
    }
    out.flush();
  }

  /** Ends the line, so that what follows stands below it. */
  void end() {
    if (open) {
      out.println();
      out.flush();
    }
  }
}
