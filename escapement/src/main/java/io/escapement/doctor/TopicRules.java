package io.escapement.doctor;

import io.escapement.kafka.TopicFacts;
import io.escapement.ledger.Limits;
import io.escapement.ledger.RecordEnvelope;
import io.escapement.ledger.TopicNames;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Judges the topics by what Kafka says of them. Thread rule: immutable. Failure: none. */
final class TopicRules {

  /** What a dead letter has beside the value: key and headers are kept up to 256 KiB. */
  static final int DEAD_LETTER_EXTRA_BYTES = RecordEnvelope.MAX_BYTES + 16 * 1024;

  private static final int MAX_SLOTS = 256;
  private static final Duration LEAST_KEPT = Duration.ofDays(1);

  private final TopicNames names;
  private final Set<String> served;
  private final Set<String> queues;
  private final boolean commands;
  private final int maxPayloadBytes;

  /**
   * Rules for an installation.
   *
   * @param served the queues that a dispatcher with these settings serves
   * @param queues the queues of all kinds
   */
  TopicRules(
      TopicNames names,
      Collection<String> served,
      Collection<String> queues,
      boolean commands,
      int maxPayloadBytes) {
    this.served = new TreeSet<>(served);
    this.commands = commands;
    this.names = names;
    this.queues = new TreeSet<>(queues);
    this.queues.addAll(served);
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
    if (commands) {
      needed.add(names.commands());
    }
    queues.forEach(queue -> needed.add(names.dispatch(queue)));
    return needed;
  }

  /** What is wrong; facts of topics that do not exist are absent. */
  List<Finding> judge(Map<String, TopicFacts> facts, Set<String> all, int brokers) {
    List<Finding> found = new ArrayList<>();
    clash(all, found);
    for (String topic : needed()) {
      TopicFacts one = facts.get(topic);
      if (one == null) {
        found.add(missing(topic));
      } else {
        judge(topic, one, found);
        copies(topic, one, brokers, found);
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
              concerned(topic),
              subject(topic),
              "cleanup.policy="
                  + facts.cleanupPolicy()
                  + " would drop records of the same key; set it to delete"));
    }
    if (topic.startsWith(names.dispatch("")) && facts.partitions() > MAX_SLOTS) {
      found.add(
          Finding.error(
              Set.of(Concern.RELAY, Concern.DISPATCHER),
              subject(topic),
              facts.partitions()
                  + " partitions, but there are 256 slots; create it again with at most 256"));
    }
    if (topic.equals(names.commands())) {
      retention(topic, facts, found);
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
                    + ((long) maxPayloadBytes + DEAD_LETTER_EXTRA_BYTES)));
      }
    }
    if (topic.equals(names.deadLetters())
        && facts.maxMessageBytes() < (long) maxPayloadBytes + DEAD_LETTER_EXTRA_BYTES) {
      found.add(
          Finding.error(
              Set.of(Concern.RELAY),
              subject(topic),
              "max.message.bytes="
                  + facts.maxMessageBytes()
                  + " is less than a dead letter can have, which would stop the relay; set it to "
                  + ((long) maxPayloadBytes + DEAD_LETTER_EXTRA_BYTES)));
    }
  }

  private static void position(String topic, TopicFacts facts, List<Finding> found) {
    if (!facts.cleanupPolicy().equals("compact")) {
      found.add(
          Finding.error(
              Set.of(Concern.RELAY),
              subject(topic),
              "cleanup.policy="
                  + facts.cleanupPolicy()
                  + " would lose the relay's position; set it to compact"));
    }
    if (facts.partitions() != 1) {
      found.add(
          Finding.error(
              Set.of(Concern.RELAY),
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
                  + ": records that wait longer for ingest are lost, and their partition stops;"
                  + " set it to 86400000 or more"));
    }
  }

  private static void copies(String topic, TopicFacts facts, int brokers, List<Finding> found) {
    if (facts.replicas() < 2 && brokers > 1) {
      found.add(
          Finding.warning(
              subject(topic),
              "has one replica, and is lost with its broker's disk; give it three"));
    }
    if (facts.replicas() > 1 && facts.minInsyncReplicas() < 2) {
      found.add(
          Finding.warning(
              subject(topic),
              "min.insync.replicas=1: what one broker has taken counts as written; set it to 2"));
    }
    if (facts.uncleanElection()) {
      found.add(
          Finding.warning(
              subject(topic),
              "unclean.leader.election.enable=true: a failover may lose records that were"
                  + " acknowledged; set it to false"));
    }
  }

  /** Topics that would be read as tenants' own and are not. */
  private void clash(Set<String> all, List<Finding> found) {
    String own = names.tenantRequests("");
    TopicNames other = new TopicNames(names.requests());
    if (all.contains(other.receipts()) && all.contains(other.relayPosition())) {
      found.add(
          Finding.error(
              Set.of(Concern.INGEST),
              "topics.prefix",
              "another installation has the prefix '"
                  + names.requests()
                  + "', and its topics would be read as tenants' own; give one of the two another"
                  + " prefix"));
    }
    for (String topic : new TreeSet<>(all)) {
      if (topic.startsWith(own) && topic.length() - own.length() > Limits.TENANT_BYTES) {
        found.add(
            Finding.warning(
                subject(topic),
                "its tenant's name is longer than "
                    + Limits.TENANT_BYTES
                    + " bytes, so that every record is invalid; create it under a shorter one"));
      }
    }
  }

  private Finding missing(String topic) {
    boolean ofOthers =
        topic.startsWith(names.dispatch(""))
            && !served.contains(topic.substring(names.dispatch("").length()));
    return ofOthers
        ? Finding.warning(
            subject(topic),
            "it does not exist, and the first task of its queue would stop the relay; run escapement"
                + " migrate, which creates it")
        : Finding.error(
            concerned(topic),
            subject(topic),
            "it does not exist; run escapement migrate, which creates it");
  }

  private Set<Concern> concerned(String topic) {
    if (topic.equals(names.requests()) || topic.equals(names.commands())) {
      return Set.of(Concern.INGEST);
    }
    return Set.of(topic.startsWith(names.dispatch("")) ? Concern.DISPATCHER : Concern.RELAY);
  }

  private static String subject(String topic) {
    return "topic " + topic;
  }
}
