package io.escapement.embedded.stub;

/** What a step is told behind its colon: nothing, or a whole number with its bounds. */
enum Argument {
  NONE("", 0, Argument.ABSENT, true),
  STATUS("code", 200, 599, false),
  MILLIS("millis", 0, 600_000, false),
  RETRY_AFTER("seconds", 0, 86_400, true);

  /** Stands for an argument that was not given. */
  static final int ABSENT = -1;

  private final String meaning;
  private final int least;
  private final int most;
  private final boolean optional;

  Argument(String meaning, int least, int most, boolean optional) {
    this.meaning = meaning;
    this.least = least;
    this.most = most;
    this.optional = optional;
  }

  /** Whether the step may go without. */
  boolean isOptional() {
    return optional;
  }

  /** What was written behind the colon; {@link #ABSENT} if it can't be used. */
  int parse(String text) {
    try {
      int number = Integer.parseInt(text);
      return number < least || number > most ? ABSENT : number;
    } catch (NumberFormatException e) {
      return ABSENT;
    }
  }

  /** How a step with this word may be written. */
  String forms(String word) {
    if (this == NONE) {
      return word;
    }
    String told = word + ":<" + meaning + " " + least + "-" + most + ">";
    return optional ? word + ", " + told : told;
  }
}
