package io.escapement.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.escapement.kafka.TopicFacts;
import io.escapement.ledger.TopicNames;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TopicRulesTest {

  private static final int LIMIT = 262_144;
  private static final long WEEK = 604_800_000L;
  private static final int USUAL = 1_048_588;

  private final TopicRules rules = rules(true);
  private final Map<String, TopicFacts> facts = new HashMap<>();

  @BeforeEach
  void healthy() {
    rules
        .needed()
        .forEach(topic -> facts.put(topic, new TopicFacts(4, 1, 1, false, "delete", WEEK, USUAL)));
    facts.put("escapement.relay-position", new TopicFacts(1, 1, 1, false, "compact", WEEK, USUAL));
  }

  @Test
  void healthyTopicsHaveNoFindings() {
    assertThat(rules.judge(facts, Set.of(), 1)).isEmpty();
  }

  @Test
  void aMissingTopicIsAnError() {
    facts.remove("escapement.receipts");
    expect("error  topic escapement.receipts: it does not exist");
  }

  @Test
  void compactedRequestsAreAnError() {
    facts.put("escapement.requests", new TopicFacts(4, 1, 1, false, "compact", WEEK, USUAL));
    expect("error  topic escapement.requests: cleanup.policy=compact");
  }

  @Test
  void aPositionThatRetentionDeletesIsAnError() {
    facts.put("escapement.relay-position", new TopicFacts(1, 1, 1, false, "delete", WEEK, USUAL));
    expect("error  topic escapement.relay-position: cleanup.policy=delete");
  }

  @Test
  void aPositionInSeveralPartitionsIsAnError() {
    facts.put("escapement.relay-position", new TopicFacts(2, 1, 1, false, "compact", WEEK, USUAL));
    expect("error  topic escapement.relay-position: 2 partitions");
  }

  @Test
  void moreDispatchPartitionsThanSlotsAreAnError() {
    facts.put(
        "escapement.dispatch.default", new TopicFacts(257, 1, 1, false, "delete", WEEK, USUAL));
    expect("error  topic escapement.dispatch.default: 257 partitions");
  }

  @Test
  void requestsThatAreKeptForLessThanADayAreAWarning() {
    facts.put("escapement.requests", new TopicFacts(4, 1, 1, false, "delete", 86_399_999, USUAL));
    expect("warning  topic escapement.requests: retention.ms=86399999");
    facts.put("escapement.requests", new TopicFacts(4, 1, 1, false, "delete", -1, USUAL));
    assertThat(rules.judge(facts, Set.of(), 1)).isEmpty();
  }

  @Test
  void requestsThatKafkaWouldNotTakeAreAWarning() {
    facts.put("escapement.requests", new TopicFacts(4, 1, 1, false, "delete", WEEK, LIMIT - 1));
    expect("warning  topic escapement.requests: max.message.bytes=262143");
  }

  @Test
  void deadLettersThatDoNotFitAreAnErrorWithTheNumberToSet() {
    facts.put("escapement.dead-letters", new TopicFacts(4, 1, 1, false, "delete", WEEK, 540_671));
    expect("error  topic escapement.dead-letters: max.message.bytes=540671");
    assertThat(rules.judge(facts, Set.of(), 1).get(0).line()).endsWith("set it to 540672");
    facts.put("escapement.dead-letters", new TopicFacts(4, 1, 1, false, "delete", WEEK, 540_672));
    assertThat(rules.judge(facts, Set.of(), 1)).isEmpty();
  }

  @Test
  void oneReplicaOnSeveralBrokersIsAWarning() {
    assertThat(lines(Set.of(), 3)).anyMatch(line -> line.contains("has one replica"));
    assertThat(lines(Set.of(), 1)).isEmpty();
  }

  @Test
  void replicasThatNeedNotBeInSyncAndUncleanElectionsAreWarnings() {
    facts.computeIfPresent("escapement.receipts", (topic, one) -> one.withReplicas(3, 1, true));
    assertThat(lines(Set.of(), 3))
        .anyMatch(line -> line.contains("escapement.receipts: min.insync.replicas=1"))
        .anyMatch(line -> line.contains("escapement.receipts: unclean.leader.election.enable"));
    facts.computeIfPresent("escapement.receipts", (topic, one) -> one.withReplicas(3, 2, false));
    assertThat(lines(Set.of(), 3)).noneMatch(line -> line.contains("escapement.receipts"));
  }

  @Test
  void anotherInstallationAmongTheTenantsTopicsIsAnErrorOfIngest() {
    Set<String> all = Set.of("escapement.requests.receipts", "escapement.requests.relay-position");
    assertThat(rules.judge(facts, all, 1))
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.subject()).isEqualTo("topics.prefix");
              assertThat(finding.stops(Concern.INGEST)).isTrue();
              assertThat(finding.stops(Concern.RELAY)).isFalse();
            });
    assertThat(lines(Set.of("escapement.requests.receipts"), 1)).isEmpty();
  }

  @Test
  void aTopicOfATenantWithTooLongANameIsAWarning() {
    String topic = "escapement.requests." + "x".repeat(129);
    assertThat(lines(Set.of(topic), 1)).singleElement().asString().contains(topic);
  }

  @Test
  void aMissingQueueOfAnotherDispatcherIsAWarning() {
    facts.remove("escapement.dispatch.other");
    expect("warning  topic escapement.dispatch.other: it does not exist");
    facts.remove("escapement.dispatch.default");
    assertThat(rules.judge(facts, Set.of(), 1))
        .filteredOn(one -> one.stops(Concern.DISPATCHER))
        .singleElement()
        .extracting(Finding::subject)
        .isEqualTo("topic escapement.dispatch.default");
  }

  @Test
  void commandsAreNotMissedWhereNobodyExecutesThem() {
    facts.remove("escapement.commands");
    expect("error  topic escapement.commands: it does not exist");
    TopicRules without = rules(false);
    assertThat(without.judge(facts, Set.of(), 1)).isEmpty();
  }

  private static TopicRules rules(boolean commands) {
    return new TopicRules(
        TopicNames.standard(), Set.of("default"), Set.of("other"), commands, LIMIT);
  }

  private List<String> lines(Set<String> all, int brokers) {
    return rules.judge(facts, all, brokers).stream().map(Finding::line).toList();
  }

  private void expect(String line) {
    assertThat(rules.judge(facts, Set.of(), 1))
        .singleElement()
        .extracting(Finding::line)
        .asString()
        .startsWith(line);
  }
}
