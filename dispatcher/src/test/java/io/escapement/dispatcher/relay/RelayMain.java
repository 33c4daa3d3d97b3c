package io.escapement.dispatcher.relay;

import io.escapement.ledger.LedgerConfig;
import io.escapement.ledger.TopicNames;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/** A relay as a process of its own, to be killed. */
final class RelayMain {

  private RelayMain() {}

  /** Arguments: JDBC address, user, password, brokers, topics' prefix, slot. */
  public static void main(String[] args) throws InterruptedException {
    RelayConfig config =
        new RelayConfig(
            LedgerConfig.of(args[0], args[1], args[2]),
            Map.of("bootstrap.servers", args[3]),
            new TopicNames(args[4]),
            args[5],
            RelayTuning.DEFAULT.withPruneGrace(Duration.ofHours(1)));
    new Relay(config).start();
    new CountDownLatch(1).await();
  }
}
