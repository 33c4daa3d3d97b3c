package io.escapement.embedded;

import io.escapement.embedded.EmbeddedStartException.Reason;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;

/**
 * A single-node Kafka broker (KRaft, broker and controller in one) inside this JVM, on loopback.
 *
 * <p>Cost: 5 to 7 seconds to start and some 400 MB of memory. Topics are never created by use.
 * Thread rule: start and close from one thread; any client may connect in between. Failure: {@link
 * EmbeddedStartException} for a port that is taken or a directory that can't be written.
 */
public final class EmbeddedBroker implements AutoCloseable {

  private static final String CLUSTER_ID_FILE = "cluster-id";

  private final KafkaRaftServer server;
  private final int port;

  private EmbeddedBroker(KafkaRaftServer server, int port) {
    this.server = server;
    this.port = port;
  }

  /**
   * Starts a broker that keeps its data in a directory; a directory that was used before is
   * continued.
   *
   * @param directory where the log lives; created if absent
   * @param port the loopback port for clients; 0 picks a free one
   */
  public static EmbeddedBroker start(Path directory, int port) {
    return start(directory, port, Map.of());
  }

  /**
   * Starts a broker with settings of its own.
   *
   * @param settings override what is usual here, {@code authorizer.class.name} for example
   */
  public static EmbeddedBroker start(Path directory, int port, Map<String, String> settings) {
    Ports.require(port, Reason.KAFKA_PORT_TAKEN);
    int clientPort = port == 0 ? Ports.free() : port;
    try {
      Files.createDirectories(directory);
      int controllerPort = Ports.free();
      Path log = directory.resolve("log");
      Properties properties = properties(log, clientPort, controllerPort);
      properties.putAll(settings);
      format(directory, log);
      KafkaRaftServer server =
          new KafkaRaftServer(KafkaConfig.fromProps(properties, false), Time.SYSTEM);
      server.startup();
      return new EmbeddedBroker(server, clientPort);
    } catch (IOException e) {
      throw EmbeddedStartException.notWritable(directory, e);
    } catch (Exception e) {
      throw new EmbeddedStartException(
          Reason.SERVER_FAILED, "the Kafka broker did not start: " + e.getMessage(), e);
    }
  }

  /** What clients put into {@code bootstrap.servers}. */
  public String bootstrapServers() {
    return "127.0.0.1:" + port;
  }

  /** The port that clients connect to. */
  public int port() {
    return port;
  }

  @Override
  public void close() {
    server.shutdown();
    server.awaitShutdown();
  }

  private static void format(Path directory, Path log) throws Exception {
    Path idFile = directory.resolve(CLUSTER_ID_FILE);
    if (Files.exists(idFile)) {
      return;
    }
    String clusterId = Uuid.randomUuid().toString();
    new Formatter()
        // It reports to standard output otherwise.
        .setPrintStream(
            new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8))
        .setClusterId(clusterId)
        .setNodeId(1)
        .setControllerListenerName("CONTROLLER")
        .setMetadataLogDirectory(log.toString())
        .addDirectory(log.toString())
        .run();
    Files.writeString(idFile, clusterId);
  }

  private static Properties properties(Path log, int clientPort, int controllerPort) {
    Properties p = new Properties();
    p.put("process.roles", "broker,controller");
    p.put("node.id", "1");
    p.put("controller.quorum.voters", "1@127.0.0.1:" + controllerPort);
    p.put(
        "listeners",
        "PLAINTEXT://127.0.0.1:" + clientPort + ",CONTROLLER://127.0.0.1:" + controllerPort);
    p.put("advertised.listeners", "PLAINTEXT://127.0.0.1:" + clientPort);
    p.put("controller.listener.names", "CONTROLLER");
    p.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
    p.put("log.dirs", log.toString());
    p.put("auto.create.topics.enable", "false");
    p.put("offsets.topic.replication.factor", "1");
    p.put("offsets.topic.num.partitions", "4");
    p.put("transaction.state.log.replication.factor", "1");
    p.put("transaction.state.log.min.isr", "1");
    p.put("transaction.state.log.num.partitions", "4");
    p.put("share.coordinator.state.topic.replication.factor", "1");
    p.put("share.coordinator.state.topic.min.isr", "1");
    p.put("share.coordinator.state.topic.num.partitions", "1");
    p.put("group.initial.rebalance.delay.ms", "0");
    p.put("num.network.threads", "2");
    p.put("num.io.threads", "4");
    p.put("log.cleaner.dedupe.buffer.size", "16777216");
    return p;
  }
}
