package io.escapement.dispatcher.relay;

import io.escapement.ledger.LedgerConfig;
import io.escapement.ledger.TopicNames;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/** A relay as a process of its own, to be killed. */
final class RelayMain {

  /** So long a careless relay can be killed between events and position. */
  private static final Duration LINGER = Duration.ofSeconds(1);

  private RelayMain() {}

  /** Arguments: JDBC address, user, password, brokers, topics' prefix, slot, careless. */
  public static void main(String[] args) throws IOException {
    RelayConfig config =
        new RelayConfig(
            LedgerConfig.of(args[0], args[1], args[2]),
            Map.of("bootstrap.servers", args[3]),
            new TopicNames(args[4]),
            args[5],
            RelayTuning.DEFAULT.withPruneGrace(Duration.ofHours(1)));
    Relay relay =
        Boolean.parseBoolean(args[6])
            ? new Relay(
                config,
                (ledgerId, timeout) ->
                    new CarelessSink(KafkaSink.open(config, ledgerId, timeout), RelayMain::linger))
            : new Relay(config);
    relay.start();
    JavaProcess.endWithParent();
  }

  /** A single park may end at once, by what somebody left behind. */
  private static void linger() {
    long end = System.nanoTime() + LINGER.toNanos();
    while (System.nanoTime() - end < 0) {
      LockSupport.parkNanos(end - System.nanoTime());
    }
  }
}
