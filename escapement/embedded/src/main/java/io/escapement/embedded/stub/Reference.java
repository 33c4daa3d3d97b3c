package io.escapement.embedded.stub;

import java.util.HexFormat;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One reference: where it is in its script, what was delivered, and whether its key is remembered.
 *
 * <p>Thread rule: any thread; what one call decides is decided under this object's lock, so two
 * calls at once deliver once. Nothing waits under it.
 */
final class Reference {

  /** No message. */
  static final long NONE = 0;

  private Script script;
  private int nextCall;
  private int nextQuery;
  private int calls;
  private int queries;
  private int delivered;
  private int replayed;
  // The message that the key stands for, and the newest one, which a query finds. They differ
  // after the key was forgotten or passed over.
  private long keyMessage = NONE;
  private long newestMessage = NONE;
  private byte @Nullable [] firstSha256;

  Reference(Script script) {
    this.script = script;
  }

  /** From now on, this script from its beginning. */
  synchronized void restart(Script other) {
    script = other;
    nextCall = 0;
    nextQuery = 0;
  }

  /**
   * Takes the next step.
   *
   * @param dedupe whether a remembered key keeps the message from being delivered again
   * @param ids gives the number of a new message
   */
  synchronized Verdict call(byte[] sha256, boolean dedupe, LongSupplier ids) {
    calls++;
    if (firstSha256 == null) {
      firstSha256 = sha256;
    }
    List<Step<CallWord>> steps = script.calls();
    Step<CallWord> step =
        nextCall < steps.size() ? steps.get(nextCall++) : Step.of(CallWord.ACCEPT);
    if (!step.word().accepts()) {
      return new Verdict(step, NONE, false);
    }
    if (step.word() == CallWord.FORGET) {
      keyMessage = NONE;
    }
    if (dedupe && keyMessage != NONE) {
      replayed++;
      return new Verdict(step, keyMessage, true);
    }
    delivered++;
    newestMessage = ids.getAsLong();
    if (keyMessage == NONE) {
      keyMessage = newestMessage;
    }
    return new Verdict(step, newestMessage, false);
  }

  /** Takes the next step of the queries. */
  synchronized Found query() {
    queries++;
    List<Step<QueryWord>> steps = script.queries();
    Step<QueryWord> step =
        nextQuery < steps.size() ? steps.get(nextQuery++) : Step.of(QueryWord.FIND);
    return new Found(step, newestMessage);
  }

  /** Forgets the key; what was delivered is still found. */
  synchronized void forget() {
    keyMessage = NONE;
  }

  synchronized StubCounts counts() {
    return new StubCounts(
        calls,
        queries,
        delivered,
        replayed,
        firstSha256 == null ? null : HexFormat.of().formatHex(firstSha256));
  }

  /**
   * What was decided of a call.
   *
   * @param message its number; {@link #NONE} if it was not accepted
   * @param replayed whether the key was remembered
   */
  record Verdict(Step<CallWord> step, long message, boolean replayed) {}

  /**
   * What is to be told.
   *
   * @param message the newest message; {@link #NONE} if none was ever accepted
   */
  record Found(Step<QueryWord> step, long message) {}
}
