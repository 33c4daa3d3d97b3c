package io.escapement.embedded.stub;

/** What may be done with a query. Adding one: {@link MessagePaths} carries it out. */
enum QueryWord implements Word {
  FIND("find", Argument.NONE),
  NOT_FOUND("not-found", Argument.NONE),
  FAIL("fail", Argument.NONE),
  HANG("hang", Argument.NONE),
  DROP("drop", Argument.NONE),
  STATUS("status", Argument.STATUS);

  private final String word;
  private final Argument argument;

  QueryWord(String word, Argument argument) {
    this.word = word;
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
}
