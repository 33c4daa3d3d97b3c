package io.escapement.wheel.bench;

/**
 * What is measured, as the same small set of operations for everyone.
 *
 * <p>Each timer has a place, a small number: it is the payload, and the contender keeps the timer's
 * handle under it. Time is virtual where the contender allows it.
 */
abstract class Contender {
  /** About a millisecond; a power of two, because one contender asks for that. */
  static final long TICK_NANOS = 1L << 20;

  /** About 69 seconds. */
  static final int HORIZON_TICKS = 1 << 16;

  static final long HORIZON_NANOS = HORIZON_TICKS * TICK_NANOS;

  /** What the fired timers' payloads sum up to, so that firing is not optimised away. */
  long checksum;

  abstract void schedule(int place, long deadlineNanos);

  abstract void cancel(int place);

  /** Fires everything that is due; how many that was. */
  abstract int advance(long nowNanos);

  /** When the next timer is due, or a lower bound for it. */
  long nextExpiryNanos() {
    throw new UnsupportedOperationException("has no such query");
  }

  /** How many wait. */
  abstract long size();

  /** Fires everything that was scheduled over one horizon; how many that was. */
  int fireAll() {
    return advance(HORIZON_NANOS);
  }

  /** Comes before a horizon's timers are scheduled that {@link #fireAll} is to fire. */
  void beforeFill() {}

  /** Comes after they were scheduled. */
  void afterFill() {}

  /** The array of handles, which is the user's and not part of the timers. */
  abstract Object handles();

  void close() {}

  /** A contender with room for handles at {@code places}. */
  static Contender named(String name, int places) {
    return switch (name) {
      case "escapement" -> new EscapementContender(places);
      case "agrona" -> new AgronaContender(places);
      case "agrona_payload" -> new AgronaPayloadContender(places);
      case "kafka" -> new KafkaContender(places);
      case "stpe" -> new ExecutorContender(places);
      case "priority_queue" -> new PriorityQueueContender(places);
      case "netty" -> new NettyContender(places);
      default -> throw new IllegalArgumentException("no contender is called " + name);
    };
  }
}
