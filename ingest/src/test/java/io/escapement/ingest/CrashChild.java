package io.escapement.ingest;

import io.escapement.ledger.Ledger;
import io.escapement.ledger.LedgerConfig;
import io.escapement.ledger.Role;
import io.escapement.ledger.TopicNames;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/**
 * An ingest process of its own that stops for ever between the ledger's commit and Kafka's, after
 * it has said so.
 */
final class CrashChild {

  /** What it says. */
  static final String COMMITTING = "between the commits";

  private CrashChild() {}

  /** Arguments: the guard (fenced or unfenced), Kafka's address, the ledger's, the prefix. */
  public static void main(String[] args) throws InterruptedException {
    TopicNames topics = new TopicNames(args[3]);
    Map<String, Object> kafka = Map.of("bootstrap.servers", args[1], "session.timeout.ms", 6_000);
    Ledger ledger = Ledger.connect(LedgerConfig.of(args[2], "postgres", "postgres"), Role.INGEST);
    CountDownLatch never = new CountDownLatch(1);
    ConsumerLens.Moments moments =
        new ConsumerLens.Moments() {
          @Override
          public void committing() throws InterruptedException {
            System.out.println(COMMITTING);
            never.await();
          }
        };
    IngestConfig config = IngestConfig.of(topics);
    if (args[0].equals("fenced")) {
      IngestAssembly.ofRequests(ledger, kafka, topics, config, ConsumerLens.of(moments)).start();
    } else {
      new UnfencedIngest(ledger, kafka, topics.requests(), config.group(), ConsumerLens.of(moments))
          .start();
    }
    never.await();
  }
}
