package io.escapement.dispatcher.relay;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RelayKafkaTest {

  private RelayHarness harness;

  @BeforeEach
  void open() {
    harness = RelayHarness.create();
  }

  @AfterEach
  void close() {
    harness.close();
  }

  @Test
  void everyEventIsReadOnceAcrossStopsAndStarts() {
    OutboxWriter writer = harness.writer("w");
    EventReader reader = harness.reader();
    writer.write(3); // before there is a slot
    for (int run = 0; run < 3; run++) {
      try (Relay relay = harness.startRelay()) {
        for (int i = 0; i < 50; i++) {
          writer.write(1 + i % 7);
        }
        reader.awaitAll(writer.committed());
        assertThat(relay.health().lastError()).isNull();
      }
      writer.write(2); // while none runs
    }
    harness.startRelay();
    reader.awaitAll(writer.committed());
    reader.readToEnd();
    assertThat(reader.faults(writer)).isEmpty();
    assertThat(reader.events()).noneMatch(EventReader.Event::repeated);
  }
}
