package io.escapement.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Judges the sizes that Kafka's clients are told. Thread rule: immutable. Failure: none. */
final class ClientRules {

  private static final List<String> FETCH_SIZES =
      List.of("fetch.max.bytes", "max.partition.fetch.bytes");
  private static final String REQUEST_SIZE = "max.request.size";

  private ClientRules() {}

  /**
   * What is wrong.
   *
   * @param client what is configured as {@code kafka.*}
   */
  static List<Finding> judge(Map<String, String> client, int maxPayloadBytes) {
    List<Finding> found = new ArrayList<>();
    for (String name : FETCH_SIZES) {
      long bytes = number(client, name, Long.MAX_VALUE);
      if (bytes < maxPayloadBytes) {
        found.add(
            Finding.warning(
                "kafka." + name,
                bytes
                    + " bytes are less than one request may have ("
                    + maxPayloadBytes
                    + "), so that ingest fetches one at a time; raise it or leave it away"));
      }
    }
    long needed = (long) maxPayloadBytes + TopicRules.DEAD_LETTER_EXTRA_BYTES;
    long request = number(client, REQUEST_SIZE, Long.MAX_VALUE);
    if (request < needed) {
      found.add(
          Finding.error(
              Set.of(Concern.RELAY),
              "kafka." + REQUEST_SIZE,
              request
                  + " bytes are less than a dead letter can have, which would stop the relay; set it"
                  + " to "
                  + needed
                  + " or leave it away"));
    }
    return found;
  }

  /** A number that is none is refused by Kafka's client itself. */
  private static long number(Map<String, String> client, String name, long otherwise) {
    String text = client.getOrDefault(name, "").strip();
    return text.matches("\\d{1,18}") ? Long.parseLong(text) : otherwise;
  }
}
