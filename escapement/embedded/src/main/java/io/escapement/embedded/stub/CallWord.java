package io.escapement.embedded.stub;

/** What may be done with a call. Adding one: {@link MessagePaths} carries it out. */
enum CallWord implements Word {
  ACCEPT("accept", true, Argument.NONE),
  ACCEPT_DELAY("accept-delay", true, Argument.MILLIS),
  ACCEPT_HANG("accept-hang", true, Argument.NONE),
  ACCEPT_DROP("accept-drop", true, Argument.NONE),
  ACCEPT_STATUS("accept-status", true, Argument.STATUS),
  FORGET("forget", true, Argument.NONE),
  HUGE("huge", true, Argument.NONE),
  HANG("hang", false, Argument.NONE),
  DROP("drop", false, Argument.NONE),
  REFUSE("refuse", false, Argument.RETRY_AFTER),
  REJECT("reject", false, Argument.NONE),
  STATUS("status", false, Argument.STATUS);

  private final String word;
  private final boolean accepts;
  private final Argument argument;

  CallWord(String word, boolean accepts, Argument argument) {
    this.word = word;
    this.accepts = accepts;
    this.argument = argument;
  }

  @Override
  public String word() {
    return word;
  }

  @Override
  public Argument argument() {
    return argument;
  }

  /** Whether the message is taken, whatever the caller is told of it. */
  boolean accepts() {
    return accepts;
  }
}
