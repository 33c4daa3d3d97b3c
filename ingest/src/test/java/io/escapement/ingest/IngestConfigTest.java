package io.escapement.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.escapement.ledger.TopicNames;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class IngestConfigTest {

  private final IngestConfig config = IngestConfig.of(new TopicNames("shop"));

  @Test
  void theGroupIsNamedAfterTheTopics() {
    assertThat(config.group()).isEqualTo("shop-ingest");
  }

  @Test
  void settingsOutOfBoundsAreRefusedInOneLine() {
    assertThatThrownBy(() -> config.withBatchRecords(0))
        .hasMessage("ingest.batch is 0; it must be 1 to 5000");
    assertThatThrownBy(() -> config.withBatchRecords(5_001))
        .hasMessage("ingest.batch is 5001; it must be 1 to 5000");
    assertThatThrownBy(() -> config.withKafkaTimeout(Duration.ofHours(1)))
        .hasMessage("kafka.timeout is PT1H; it must be between PT0.001S and PT1M");
    assertThatThrownBy(
            () ->
                new IngestConfig(
                    " ",
                    1,
                    65_536,
                    config.pollTimeout(),
                    config.retryBase(),
                    config.retryCap(),
                    config.holdTopics(),
                    config.kafkaTimeout()))
        .hasMessage("ingest.group is empty; name the consumer group");
    assertThatThrownBy(
            () ->
                new IngestConfig(
                    "g",
                    1,
                    65_536,
                    config.pollTimeout(),
                    Duration.ofSeconds(6),
                    config.retryCap(),
                    config.holdTopics(),
                    config.kafkaTimeout()))
        .hasMessage("ingest.retry-base is PT6S; it must be between PT0.001S and PT5S");
  }
}
