package io.escapement.dispatcher;

/**
 * Calls a system outside, for the tasks of one channel. What the system promises, the channel's
 * contract, is defined in the ledger ({@code define_channel}); this says how it is called.
 *
 * <p>Found by {@link java.util.ServiceLoader}: name the class in {@code
 * META-INF/services/io.escapement.dispatcher.Channel} of a jar on the class path. For HTTP none is
 * needed: {@code io.escapement.dispatcher.http.HttpChannel} is set up by a file.
 *
 * <p>Ordering: none between tasks. Thread rule: one object serves many threads at once, each call
 * on a virtual thread of its own. Failure: what is not known must not be guessed; see {@link
 * SendResult}. An exception out of {@link #send} counts as {@link SendResult.IoError}, an Error
 * too. A call that has not ended after {@link Call#timeout} is interrupted and counts as {@link
 * SendResult.Timeout}, whatever it answers later.
 */
public interface Channel extends AutoCloseable {

  /** Its name, as it is defined in the ledger. */
  String name();

  /** Makes the call. Blocks until the answer is there, {@link Call#timeout} at most. */
  SendResult send(Call call) throws Exception;

  /** Whether it can ask what was accepted; a {@code QUERYABLE} channel must. */
  default boolean canQuery() {
    return false;
  }

  /**
   * Asks whether an earlier call of the same task was accepted. An exception counts as {@link
   * QueryResult.Failed}.
   */
  default QueryResult query(Call call) throws Exception {
    throw new UnsupportedOperationException("channel " + name() + " can't be asked");
  }

  /**
   * Where the call goes, as far as outages are concerned: calls to one destination are held back
   * together while it does not answer. Empty, the default: all of the channel's go to the same.
   */
  default String destination(Call call) {
    return "";
  }

  /** Lets go what it holds, when the dispatcher has stopped. */
  @Override
  default void close() {}
}
