package io.escapement.bench;

import java.util.List;
import java.util.function.Consumer;

/**
 * What every benchmark is given: servers to measure on, the patience of whoever asked for it, and
 * somebody to tell how it goes.
 *
 * <p>Thread rule: one thread.
 */
public final class BenchRun {

  private final BenchServers servers;
  private final Patience patience;
  private final Consumer<String> said;

  public BenchRun(BenchServers servers, Stop stop, Consumer<String> said) {
    this.servers = servers;
    this.patience = new Patience(stop::isWanted);
    this.said = said;
  }

  /** A clean ledger and topics, with more settings. */
  BenchWorld world(List<BenchWorld.Assignment> more) {
    patience.requireWanted();
    return servers.world(more, patience);
  }

  Patience patience() {
    return patience;
  }

  void say(String line) {
    said.accept(line);
  }

  /** Measures so often, and tells each time that it does. */
  void repeat(int repeats, Runnable measure) {
    for (int repeat = 1; repeat <= repeats; repeat++) {
      say("repeat " + repeat);
      measure.run();
    }
  }
}
