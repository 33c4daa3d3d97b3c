package io.escapement.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.kafka.TopicFacts;
import io.escapement.ledger.TopicNames;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TopicRulesTest {

  private static final int LIMIT = 262_144;
  private static final long WEEK = 604_800_000L;
  private static final int USUAL = 1_048_588;

  private final TopicRules rules = new TopicRules(TopicNames.standard(), Set.of("default"), LIMIT);
  private final Map<String, TopicFacts> facts = new HashMap<>();

  @BeforeEach
  void healthy() {
    rules.needed().forEach(topic -> facts.put(topic, new TopicFacts(4, "delete", WEEK, USUAL)));
    facts.put("escapement.relay-position", new TopicFacts(1, "compact", WEEK, USUAL));
  }

  @Test
  void healthyTopicsHaveNoFindings() {
    assertThat(rules.judge(facts)).isEmpty();
  }

  @Test
  void aMissingTopicIsAnError() {
    facts.remove("escapement.receipts");
    expect("error  topic escapement.receipts: it does not exist");
  }

  @Test
  void compactedRequestsAreAnError() {
    facts.put("escapement.requests", new TopicFacts(4, "compact", WEEK, USUAL));
    expect("error  topic escapement.requests: cleanup.policy=compact");
  }

  @Test
  void aPositionThatRetentionDeletesIsAnError() {
    facts.put("escapement.relay-position", new TopicFacts(1, "delete", WEEK, USUAL));
    expect("error  topic escapement.relay-position: cleanup.policy=delete");
  }

  @Test
  void aPositionInSeveralPartitionsIsAnError() {
    facts.put("escapement.relay-position", new TopicFacts(2, "compact", WEEK, USUAL));
    expect("error  topic escapement.relay-position: 2 partitions");
  }

  @Test
  void moreDispatchPartitionsThanSlotsAreAnError() {
    facts.put("escapement.dispatch.default", new TopicFacts(257, "delete", WEEK, USUAL));
    expect("error  topic escapement.dispatch.default: 257 partitions");
  }

  @Test
  void requestsThatAreKeptForLessThanADayAreAWarning() {
    facts.put("escapement.requests", new TopicFacts(4, "delete", 86_399_999, USUAL));
    expect("warning  topic escapement.requests: retention.ms=86399999");
    facts.put("escapement.requests", new TopicFacts(4, "delete", -1, USUAL));
    assertThat(rules.judge(facts)).isEmpty();
  }

  @Test
  void requestsThatKafkaWouldNotTakeAreAWarning() {
    facts.put("escapement.requests", new TopicFacts(4, "delete", WEEK, LIMIT - 1));
    expect("warning  topic escapement.requests: max.message.bytes=262143");
  }

  @Test
  void deadLettersThatDoNotFitAreAnErrorWithTheNumberToSet() {
    facts.put("escapement.dead-letters", new TopicFacts(4, "delete", WEEK, 540_671));
    expect("error  topic escapement.dead-letters: max.message.bytes=540671");
    assertThat(rules.judge(facts).get(0).line()).endsWith("set it to 540672");
    facts.put("escapement.dead-letters", new TopicFacts(4, "delete", WEEK, 540_672));
    assertThat(rules.judge(facts)).isEmpty();
  }

  private void expect(String line) {
    assertThat(rules.judge(facts))
        .singleElement()
        .extracting(Finding::line)
        .asString()
        .startsWith(line);
  }
}
