package io.escapement.dispatcher.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.escapement.ledger.LedgerConfig;
import io.escapement.ledger.TopicNames;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RelayConfigTest {

  private static final LedgerConfig LEDGER = LedgerConfig.of("jdbc:postgresql:x", "me", "secret");

  @Test
  void settingsThatExactnessDependsOnAreRefused() {
    for (String own : new String[] {"acks", "isolation.level", "transactional.id"}) {
      assertThatThrownBy(() -> with(Map.of("bootstrap.servers", "b:1", own, "1"), "slot"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("kafka." + own);
    }
  }

  @Test
  void whatIsMissingOrMisspeltIsNamed() {
    assertThatThrownBy(() -> with(Map.of(), "slot"))
        .hasMessageContaining("kafka.bootstrap-servers");
    assertThatThrownBy(() -> with(Map.of("bootstrap.servers", "b:1"), "My-Slot"))
        .hasMessageContaining("relay.slot");
    assertThatThrownBy(() -> new TopicNames("a b")).hasMessageContaining("topics.prefix");
  }

  @Test
  void numbersThatCanNotWorkTogetherAreRefused() {
    assertThatThrownBy(() -> RelayTuning.DEFAULT.withPollInterval(Duration.ZERO))
        .hasMessageContaining("relay.poll-interval");
    RelayTuning d = RelayTuning.DEFAULT;
    assertThatThrownBy(
            () ->
                new RelayTuning(
                    d.pollInterval(),
                    d.queueRecords(),
                    d.queueBytes(),
                    d.transactionEvents(),
                    d.transactionTimeout(),
                    d.firstTimeout(),
                    d.answerTimeout(),
                    Duration.ofSeconds(2),
                    Duration.ofSeconds(3),
                    d.heartbeatBytes(),
                    d.pruneGrace(),
                    d.pruneRows(),
                    d.minBackoff(),
                    d.maxBackoff(),
                    d.closeTimeout()))
        .hasMessageContaining("relay.silence-limit");
  }

  @Test
  void secretsAreNotShown() {
    RelayConfig config =
        with(Map.of("bootstrap.servers", "b:1", "sasl.jaas.config", "password=hidden"), "slot");
    assertThat(config.toString()).contains("b:1").doesNotContain("secret").doesNotContain("hidden");
  }

  private static RelayConfig with(Map<String, String> kafka, String slot) {
    return new RelayConfig(LEDGER, kafka, TopicNames.standard(), slot, RelayTuning.DEFAULT);
  }
}
