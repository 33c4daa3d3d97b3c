package io.escapement.embedded.stub;

import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * What happens to one call or to one query.
 *
 * @param argument within the word's bounds; {@link Argument#ABSENT} if none was given
 */
record Step<W extends Enum<W> & Word>(W word, int argument) {

  private static final int SHOWN_AT_MOST = 60;

  static <W extends Enum<W> & Word> Step<W> of(W word) {
    return new Step<>(word, Argument.ABSENT);
  }

  /**
   * Reads {@code word} or {@code word:argument}.
   *
   * @param what call or query, for the complaint
   * @throws RequestException that names the step and all that there are
   */
  static <W extends Enum<W> & Word> Step<W> parse(Class<W> known, String what, String text) {
    int colon = text.indexOf(':');
    String name = colon < 0 ? text : text.substring(0, colon);
    for (W word : known.getEnumConstants()) {
      if (word.word().equals(name)) {
        if (colon < 0 && word.argument().isOptional()) {
          return of(word);
        }
        int argument =
            colon < 0 ? Argument.ABSENT : word.argument().parse(text.substring(colon + 1));
        if (argument != Argument.ABSENT) {
          return new Step<>(word, argument);
        }
      }
    }
    throw new RequestException(
        400, "there is no " + what + " step '" + shown(text) + "'; there are: " + allOf(known));
  }

  /** Text from outside, fit for one line. */
  static String shown(String text) {
    String cut = text.length() > SHOWN_AT_MOST ? text.substring(0, SHOWN_AT_MOST) + "…" : text;
    return cut.replaceAll("\\p{Cntrl}", "?");
  }

  private static <W extends Enum<W> & Word> String allOf(Class<W> known) {
    return Arrays.stream(known.getEnumConstants())
        .map(word -> word.argument().forms(word.word()))
        .collect(Collectors.joining(", "));
  }
}
