package io.escapement.doctor;

import io.escapement.kafka.TopicFacts;
import io.escapement.ledger.TopicNames;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Judges the topics by what Kafka says of them. Thread rule: immutable. Failure: none. */
final class TopicRules {

  /** What a dead letter has beside the value: key and headers are kept up to 256 KiB. */
  static final int DEAD_LETTER_EXTRA_BYTES = (256 + 16) * 1024;

  private static final int MAX_SLOTS = 256;
  private static final Duration LEAST_KEPT = Duration.ofDays(1);

  private final TopicNames names;
  private final Set<String> queues;
  private final int maxPayloadBytes;

  TopicRules(TopicNames names, Set<String> queues, int maxPayloadBytes) {
    this.names = names;
    this.queues = new TreeSet<>(queues);
    this.maxPayloadBytes = maxPayloadBytes;
  }

  /** All topics that the parts need. */
  List<String> needed() {
    List<String> needed =
        new ArrayList<>(
            List.of(
                names.requests(),
                names.receipts(),
                names.outcomes(),
                names.deadLetters(),
                names.relayPosition()));
    queues.forEach(queue -> needed.add(names.dispatch(queue)));
    return needed;
  }

  /** What is wrong; facts of topics that do not exist are absent. */
  List<Finding> judge(Map<String, TopicFacts> facts) {
    List<Finding> found = new ArrayList<>();
    for (String topic : needed()) {
      TopicFacts one = facts.get(topic);
      if (one == null) {
        found.add(
            Finding.error(
                subject(topic), "it does not exist; run escapement migrate, which creates it"));
      } else {
        judge(topic, one, found);
      }
    }
    return found;
  }

  private void judge(String topic, TopicFacts facts, List<Finding> found) {
    boolean compacted = facts.cleanupPolicy().contains("compact");
    if (topic.equals(names.relayPosition())) {
      position(topic, facts, found);
    } else if (compacted) {
      found.add(
          Finding.error(
              subject(topic),
              "cleanup.policy="
                  + facts.cleanupPolicy()
                  + " would drop records of the same key; set it to delete"));
    }
    if (topic.startsWith(names.dispatch("")) && facts.partitions() > MAX_SLOTS) {
      found.add(
          Finding.error(
              subject(topic),
              facts.partitions()
                  + " partitions, but there are 256 slots; create it again with at most 256"));
    }
    if (topic.equals(names.requests())) {
      retention(topic, facts, found);
      if (facts.maxMessageBytes() < maxPayloadBytes) {
        found.add(
            Finding.warning(
                subject(topic),
                "max.message.bytes="
                    + facts.maxMessageBytes()
                    + " is below the payload limit; set it to "
                    + (maxPayloadBytes + DEAD_LETTER_EXTRA_BYTES)));
      }
    }
    if (topic.equals(names.deadLetters())
        && facts.maxMessageBytes() < maxPayloadBytes + DEAD_LETTER_EXTRA_BYTES) {
      found.add(
          Finding.error(
              subject(topic),
              "max.message.bytes="
                  + facts.maxMessageBytes()
                  + " is less than a dead letter can have, which would stop the relay; set it to "
                  + (maxPayloadBytes + DEAD_LETTER_EXTRA_BYTES)));
    }
  }

  private static void position(String topic, TopicFacts facts, List<Finding> found) {
    if (!facts.cleanupPolicy().equals("compact")) {
      found.add(
          Finding.error(
              subject(topic),
              "cleanup.policy="
                  + facts.cleanupPolicy()
                  + " would lose the relay's position; set it to compact"));
    }
    if (facts.partitions() != 1) {
      found.add(
          Finding.error(
              subject(topic),
              facts.partitions() + " partitions; delete it and run escapement migrate"));
    }
  }

  private static void retention(String topic, TopicFacts facts, List<Finding> found) {
    long kept = facts.retentionMillis();
    if (kept >= 0 && kept < LEAST_KEPT.toMillis()) {
      found.add(
          Finding.warning(
              subject(topic),
              "retention.ms="
                  + kept
                  + ": requests that wait longer for ingest are lost, and their partition stops;"
                  + " set it to 86400000 or more"));
    }
  }

  private static String subject(String topic) {
    return "topic " + topic;
  }
}
