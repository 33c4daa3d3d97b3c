package io.escapement.dispatcher;

/** What a handler's attempt came to. */
public sealed interface HandlerResult {

  /**
   * The work is done.
   *
   * @param effect kept in the ledger as the task's effect; may be empty
   */
  record Done(byte[] effect) implements HandlerResult {}

  /** It failed and may be tried again, after the kind's backoff. */
  record Failed(String why) implements HandlerResult {}

  /** It failed and would fail again: no more tries. */
  record Poisoned(String why) implements HandlerResult {}

  /** Done, with these bytes as the effect. */
  static HandlerResult done(byte[] effect) {
    return new Done(effect);
  }

  /** Failed, may be tried again. */
  static HandlerResult failed(String why) {
    return new Failed(why);
  }

  /** Failed for good. */
  static HandlerResult poisoned(String why) {
    return new Poisoned(why);
  }
}
