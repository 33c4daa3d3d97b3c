package io.escapement.ingest;

import io.escapement.ledger.Ledger;
import io.escapement.ledger.LedgerConfig;
import io.escapement.ledger.Role;
import io.escapement.ledger.TopicNames;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/**
 * A consumer of commands in a process of its own that stops for ever between the ledger's commit
 * and Kafka's, after it has said so.
 */
final class CommandCrashChild {

  private CommandCrashChild() {}

  /** Arguments: Kafka's address, the ledger's, the prefix. */
  public static void main(String[] args) throws InterruptedException {
    TopicNames topics = new TopicNames(args[2]);
    Map<String, Object> kafka = Map.of("bootstrap.servers", args[0], "session.timeout.ms", 6_000);
    Ledger ledger = Ledger.connect(LedgerConfig.of(args[1], "postgres", "postgres"), Role.OPERATOR);
    CountDownLatch never = new CountDownLatch(1);
    ConsumerLens.Moments moments =
        new ConsumerLens.Moments() {
          @Override
          public void committing() throws InterruptedException {
            System.out.println(CrashChild.COMMITTING);
            never.await();
          }
        };
    IngestAssembly.ofCommands(
            ledger, kafka, topics, IngestConfig.ofCommands(topics), ConsumerLens.of(moments))
        .start();
    never.await();
  }
}
