package io.escapement.assembly;

import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * A part that runs in this process: ingest, relay or dispatcher.
 *
 * <p>Thread rule: close once; ask from any thread.
 */
public final class Part implements AutoCloseable {

  private final String name;
  private final BooleanSupplier ready;
  private final Supplier<Optional<String>> ended;
  private final Runnable drain;

  Part(String name, BooleanSupplier ready, Supplier<Optional<String>> ended, Runnable drain) {
    this.name = name;
    this.ready = ready;
    this.ended = ended;
    this.drain = drain;
  }

  /** What people call it. */
  public String name() {
    return name;
  }

  /** Whether it has its share of the work: partitions, slots or the lead. */
  public boolean isReady() {
    return ready.getAsBoolean();
  }

  /** Why it has ended by itself, which it never should; empty while it works or retries. */
  public Optional<String> ended() {
    return ended.get();
  }

  /** Ends what it has in hand, within its limits, and stops. */
  @Override
  public void close() {
    drain.run();
  }
}
