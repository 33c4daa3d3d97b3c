package io.escapement.ingest;

import io.escapement.ledger.Ledger;
import io.escapement.ledger.LedgerConfig;
import io.escapement.ledger.Role;
import io.escapement.ledger.TopicNames;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.ConsumerRecords;

/**
 * An ingest process of its own, fenced or not. It may be told to stop between its first poll and
 * what follows until somebody writes a line to it, and says when it has polled and when it was
 * fenced.
 */
final class IngestChild {

  static final String POLLED = "polled";
  static final String FENCED = "fenced";

  private static final long LOOK_NANOS = 20_000_000;

  private IngestChild() {}

  /** Starts one. */
  static Process start(
      String guard, boolean waits, String kafka, LedgerConfig ledger, String prefix)
      throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path")));
    String logging = System.getProperty("logback.configurationFile");
    if (logging != null) {
      command.add("-Dlogback.configurationFile=" + logging);
    }
    command.addAll(
        List.of(
            IngestChild.class.getName(),
            guard,
            Boolean.toString(waits),
            kafka,
            ledger.url(),
            prefix));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  /**
   * Arguments: fenced, unfenced or holding, whether it waits, Kafka's address, the ledger's, the
   * prefix.
   */
  public static void main(String[] args) throws InterruptedException {
    TopicNames topics = new TopicNames(args[4]);
    Map<String, Object> kafka = new HashMap<>();
    kafka.put("bootstrap.servers", args[2]);
    kafka.put("session.timeout.ms", 6_000);
    kafka.put("heartbeat.interval.ms", 500);
    kafka.put("metadata.max.age.ms", 1_000);
    LedgerConfig config = LedgerConfig.of(args[3], "postgres", "postgres");
    Ledger ledger =
        Ledger.connect(
            new LedgerConfig(
                config.url(),
                config.user(),
                config.password(),
                2,
                Duration.ofSeconds(2),
                config.statementTimeout(),
                config.lockTimeout()),
            Role.INGEST);
    ConsumerLens.Moments moments =
        Boolean.parseBoolean(args[1]) ? new Waiting() : new ConsumerLens.Moments() {};
    IngestConfig settings = IngestConfig.of(topics).withBatchRecords(100);
    if (args[0].equals("holding")) {
      settings = settings.withHoldTopics(Set.of(topics.requests()));
    }
    if (args[0].equals("unfenced")) {
      new UnfencedIngest(
              ledger, kafka, topics.requests(), settings.group(), ConsumerLens.of(moments))
          .start();
      new CountDownLatch(1).await();
    }
    IngestAssembly ingest =
        IngestAssembly.ofRequests(ledger, kafka, topics, settings, ConsumerLens.of(moments));
    Runtime.getRuntime().addShutdownHook(new Thread(ingest::close));
    ingest.start();
    while (ingest.stats().snapshot().fences() == 0) {
      LockSupport.parkNanos(LOOK_NANOS);
    }
    System.out.println(FENCED);
    new CountDownLatch(1).await();
  }

  /** Waits for a line after its first poll. */
  private static final class Waiting implements ConsumerLens.Moments {
    private boolean waited;

    @Override
    public void polled(ConsumerRecords<?, ?> records) {
      if (!waited) {
        waited = true;
        System.out.println(POLLED);
        try {
          System.in.read();
        } catch (IOException e) {
          throw new IllegalStateException(e);
        }
      }
    }
  }
}
