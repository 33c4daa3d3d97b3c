package io.escapement.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.escapement.ledger.Ledger;
import io.escapement.ledger.Role;
import io.escapement.ledger.TopicNames;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is wrong with the configuration is one line that names the setting and the cure. */
class IngestStartKafkaTest {

  private final IngestFixture fixture = new IngestFixture(1);
  private final Ledger ledger = fixture.database().connect(Role.INGEST);

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void noBroker() throws IOException {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    Map<String, Object> kafka = Map.of("bootstrap.servers", "127.0.0.1:" + port);
    refused(kafka, fixture.prefix())
        .hasMessageContaining("kafka.bootstrap-servers is '127.0.0.1:" + port + "'")
        .hasMessageContaining("start Kafka there or correct the setting");
  }

  @Test
  void noHost() {
    refused(Map.of("bootstrap.servers", "no.such.host.invalid:9092"), fixture.prefix())
        .hasMessageContaining("kafka: ")
        .hasMessageContaining("bootstrap.servers");
  }

  @Test
  void noTopic() {
    refused(fixture.kafka(), "missing")
        .hasMessageContaining("topics.prefix")
        .hasMessageContaining("'missing.requests'")
        .hasMessageContaining("create it with: escapement migrate, or correct the prefix");
  }

  @Test
  void notASetting() {
    Map<String, Object> kafka = fixture.kafka();
    kafka.put("session.timeout.ms", "soon");
    refused(kafka, fixture.prefix()).hasMessageContaining("session.timeout.ms");
  }

  @Test
  void whatIngestsPromisesDependOnCannotBeSet() {
    Map<String, Object> kafka = fixture.kafka();
    kafka.put("enable.auto.commit", true);
    kafka.put("auto.offset.reset", "latest");
    kafka.put("isolation.level", "read_uncommitted");
    fixture.produce(0, fixture.requests(0, 3));
    IngestAssembly ingest = fixture.ingest(kafka, consumer -> consumer);
    await().until(() -> ingest.stats().snapshot().decided() == 3);
  }

  @Test
  void theNewerGroupProtocolDoesAsWell() {
    fixture.produce(0, fixture.requests(0, 3));
    IngestAssembly ingest =
        fixture.ingest(
            Map.of("bootstrap.servers", IngestFixture.bootstrap(), "group.protocol", "consumer"),
            consumer -> consumer);
    await().until(() -> ingest.stats().snapshot().decided() == 3);
    assertThat(ingest.stats().snapshot().failures()).isZero();
  }

  private AbstractThrowableAssert<?, ? extends Throwable> refused(
      Map<String, Object> kafka, String prefix) {
    IngestConfig config = fixture.config().withKafkaTimeout(Duration.ofSeconds(1));
    return assertThatThrownBy(
            () -> IngestAssembly.ofRequests(ledger, kafka, new TopicNames(prefix), config).start())
        .isInstanceOf(IngestException.class)
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("\n"));
  }
}
